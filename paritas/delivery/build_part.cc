#include "paritas/delivery/build_part.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/base/sha256.h"
#include "paritas/delivery/environment.h"
#include "paritas/package/chain.h"
#include "paritas/package/json_fields.h"
#include "paritas/package/portable_target.h"
#include "paritas/placement/context_model.h"
#include "paritas/runtime/run_info.h"
#include "paritas/vendor/qnn_op_trace.h"

namespace paritas {
namespace {

namespace fs = std::filesystem;

constexpr size_t kNodesShown = 5;

Status copy_into(const Path& from, const Path& to) {
  std::error_code code;
  fs::create_directories(to.parent_path(), code);
  fs::copy_file(from, to, code);
  if (code) return input_error(from.string(), fmt::format("cannot be copied: {}", code.message()));
  return {};
}

class PartBuilder {
 public:
  explicit PartBuilder(const PartRequest& request) : request_(request) {
    PackagePart& part = built_.part;
    part.name = request.name;
    part.on_device = is_for_device(request.target.spec);
    part.target = portable_text(request.target.spec);
    part.provider = request.target.provider;
    part.options = portable_options(request.target);
    part.optimisation = request.target.optimisation;
    part.threads = request.target.threads;
    part.nodes = request.part->nodes;
    part.inputs = request.part->inputs;
    part.outputs = request.part->outputs;
  }

  Result<BuiltPart> run() {
    if (request_.context) {
      PARITAS_TRY(take_context());
    } else if (request_.target.capabilities.contexts) {
      PARITAS_TRY(compile());
    } else {
      PARITAS_TRY(save_plain());
    }
    PARITAS_TRY(describe_files());
    PARITAS_TRY(reload());
    return std::move(built_);
  }

 private:
  Path file(const std::string& name) const { return request_.folder / name; }

  Status save_plain() {
    built_.part.file = request_.name + ".onnx";
    PARITAS_ASSIGN(const auto saved, request_.part->model.save_whole(request_.folder, request_.name));
    if (saved.weight_bytes > 0) built_.part.weights.push_back(request_.name + ".weights");
    return {};
  }

  Status compile() {
    built_.part.compiled = true;
    built_.part.file = request_.name + "_ctx.onnx";
    Target target = without_fallback(request_.target);
    target.session_entries["ep.context_enable"] = "1";
    target.session_entries["ep.context_embed_mode"] = "1";
    target.session_entries["ep.context_file_path"] = fs::absolute(file(built_.part.file)).string();
    PARITAS_ASSIGN(Runner runner, Runner::start_in(request_.scratch, "compile", target, request_.worker));
    auto session = runner.open(request_.part->model, /*op_trace=*/true);
    if (!session) {
      PARITAS_TRY(explain_fallback());
      return tl::make_unexpected(std::move(session).error());
    }
    PARITAS_TRY(note_placement(session->info()));
    built_.part.build_seconds = session->info().seconds;
    note_libraries(runner.worker().identity());
    PARITAS_TRY(session->close());
    std::error_code code;
    if (!fs::is_regular_file(file(built_.part.file), code))
      return runtime_error(request_.target.spec.text, "compiled the part but wrote no context",
                           "check ep.context options, and whether the provider supports contexts");
    return keep_trace(session->info().op_traces);
  }

  // A session that may not fall back is refused without the names of the nodes that would have.
  Status explain_fallback() {
    PARITAS_ASSIGN(Runner runner, Runner::start_in(request_.scratch, "explain", request_.target, request_.worker));
    auto session = runner.open(request_.part->model);
    if (!session) return {};  // it cannot be opened at all: the first error says why
    return require_on_device(session->info());
  }

  Status require_on_device(const SessionInfo& info) {
    if (!request_.target.capabilities.device) return {};
    std::vector<std::string> elsewhere;
    for (const AssignedNode& node : info.assignment)
      if (node.provider != request_.target.provider)
        elsewhere.push_back(fmt::format("{} ({}) on {}", node.name, node.op, node.provider));
    if (elsewhere.empty()) return {};
    const size_t all = elsewhere.size();
    elsewhere.resize(std::min(all, kNodesShown));
    return runtime_error(
        fmt::format("part \"{}\"", request_.name),
        fmt::format("{} of {} nodes are not on {}: {}{}", all, info.assignment.size(), request_.target.provider,
                    fmt::join(elsewhere, ", "), all > kNodesShown ? ", ..." : ""),
        "cut so that these nodes go to a CPU part; paritas placement shows where each node runs");
  }

  Status note_placement(const SessionInfo& info) {
    PARITAS_TRY(require_on_device(info));
    built_.part.placement = count_assignment(request_.target, info.assignment, info.partitions);
    if (request_.target.capabilities.device && built_.part.placement.total() == 0)
      built_.notes.push_back(fmt::format("part \"{}\": the runtime does not tell where its nodes run", request_.name));
    return {};
  }

  Status keep_trace(const std::vector<Path>& traces) {
    if (traces.empty()) {
      if (request_.target.capabilities.op_trace)
        built_.notes.push_back(fmt::format("part \"{}\": the provider wrote no op trace", request_.name));
      return {};
    }
    CompileTrace trace;
    trace.file = fmt::format("evidence/{}_op_trace.json", request_.name);
    PARITAS_TRY(copy_into(traces.front(), file(trace.file)));
    PARITAS_ASSIGN(const OpTrace read, read_qnn_op_trace(file(trace.file)));
    trace.source_ops = traced_sources(read);
    PARITAS_ASSIGN(trace.context_sha256, sha256_of_file(file(built_.part.file)));
    built_.part.trace = std::move(trace);
    return {};
  }

  Status take_context() {
    built_.part.compiled = true;
    built_.part.file = request_.name + "_ctx.onnx";
    PARITAS_TRY(copy_into(*request_.context, file(built_.part.file)));
    built_.notes.push_back(fmt::format(
        "part \"{}\": the context {} was compiled elsewhere: no op trace of its compilation, and that it is "
        "of this model is shown only by what it computes",
        request_.name, request_.context->filename().string()));
    for (PackagePort& port : built_.part.inputs)
      if (const auto it = request_.ports.inputs.find(port.tensor); it != request_.ports.inputs.end())
        port.name = it->second;
    for (PackagePort& port : built_.part.outputs)
      if (const auto it = request_.ports.outputs.find(port.tensor); it != request_.ports.outputs.end())
        port.name = it->second;
    return {};
  }

  Status describe_files() {
    PackagePart& part = built_.part;
    PARITAS_ASSIGN(part.sha256, sha256_of_file(file(part.file)));
    if (!part.compiled) return {};
    PARITAS_ASSIGN(const ContextModel context, read_context_model(file(part.file)));
    const ContextNode& node = context.contexts.front();
    part.context = ContextFacts{node.provider, node.name, node.sdk_version, node.embedded};
    if (!context.ordinary.empty())
      return runtime_error(fmt::format("part \"{}\"", request_.name),
                           fmt::format("the context leaves {} nodes outside, the first is {}", context.ordinary.size(),
                                       context.ordinary.front()),
                           "cut so that these nodes go to a CPU part");
    for (const ContextNode& each : context.contexts)
      if (!each.embedded)
        return input_error(file(part.file).string(), "refers to a context in another file",
                           "compile it with ep.context_embed_mode=1");
    return {};
  }

  // From the file, in a fresh process, as an application would.
  Status reload() {
    PackagePart& part = built_.part;
    const Target target = without_fallback(request_.target);
    PARITAS_ASSIGN(Runner runner, Runner::start_in(request_.scratch, "reload", target, request_.worker));
    auto session = runner.open_file(file(part.file));
    if (!session) {
      if (!part.compiled) PARITAS_TRY(explain_fallback());
      Error error = std::move(session).error();
      if (part.compiled) error.cause = "the context does not load again: " + error.cause;
      return tl::make_unexpected(std::move(error));
    }
    part.reload_seconds = session->info().seconds;
    if (!part.compiled || request_.context) PARITAS_TRY(note_placement(session->info()));
    note_libraries(runner.worker().identity());
    in_session_order(part.inputs, session->info().inputs);
    in_session_order(part.outputs, session->info().outputs);
    if (const std::string text = port_difference(part.inputs, session->info().inputs); !text.empty())
      return wrong_ports("inputs", text);
    if (const std::string text = port_difference(part.outputs, session->info().outputs); !text.empty())
      return wrong_ports("outputs", text);
    return session->close();
  }

  Unexpected wrong_ports(const char* what, const std::string& text) const {
    return input_error(fmt::format("part \"{}\"", request_.name),
                       fmt::format("the {} of {} are not those of the part: {}", what, built_.part.file, text),
                       request_.context ? "it is of another model or cut, or give its names with --context-map"
                                        : "report this: names were changed by the runtime");
  }

  // The order is told, never used.
  static void in_session_order(std::vector<PackagePort>& ports, const std::vector<PortInfo>& session) {
    auto place = [&](const PackagePort& port) {
      return std::find_if(session.begin(), session.end(), [&](const PortInfo& p) { return p.name == port.name; });
    };
    std::stable_sort(ports.begin(), ports.end(),
                     [&](const PackagePort& a, const PackagePort& b) { return place(a) < place(b); });
  }

  void note_libraries(const RuntimeIdentity& identity) {
    add_libraries(libraries_of(request_.target, identity), built_.libraries);
  }

  const PartRequest& request_;
  BuiltPart built_;
};

}  // namespace

uint64_t traced_sources(const OpTrace& trace) {
  std::set<std::string> names;
  for (const DeviceOp& op : trace.ops) names.insert(op.sources.begin(), op.sources.end());
  return names.size();
}

Result<PortMap> read_port_map(const Path& file) {
  PARITAS_ASSIGN(const std::string text, read_text(file, uint64_t{1} << 20));
  PARITAS_ASSIGN(const Json json, parse_json(text, file.string()));
  JsonFields fields(json, file.string());
  PortMap map;
  if (fields.optional("inputs") != nullptr) map.inputs = fields.text_table("inputs");
  if (fields.optional("outputs") != nullptr) map.outputs = fields.text_table("outputs");
  PARITAS_TRY(fields.status());
  if (map.inputs.empty() && map.outputs.empty())
    return input_error(file.string(), "names neither \"inputs\" nor \"outputs\"",
                       R"(write {"inputs": {"NAME": "NAME IN THE CONTEXT"}, "outputs": {...}})");
  return map;
}

Result<BuiltPart> build_part(const PartRequest& request) { return PartBuilder(request).run(); }

}  // namespace paritas
