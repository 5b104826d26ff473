#include "paritas/delivery/verify.h"

#include <algorithm>
#include <chrono>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/base/sha256.h"
#include "paritas/compare/compare.h"
#include "paritas/delivery/build_part.h"
#include "paritas/delivery/environment.h"
#include "paritas/delivery/judge_recordings.h"
#include "paritas/package/record_package.h"
#include "paritas/placement/context_model.h"
#include "paritas/runtime/run_info.h"

namespace paritas {
namespace {

namespace fs = std::filesystem;

bool all_on(const PlacementCounts& counts, const std::string& provider) {
  return counts.total() > 0 && counts.on(provider) == counts.total();
}

std::string counts_text(const PlacementCounts& counts) {
  std::vector<std::string> words;
  for (const auto& [provider, nodes] : counts.nodes) words.push_back(fmt::format("{} on {}", nodes, provider));
  return words.empty() ? "not told" : fmt::format("{}", fmt::join(words, ", "));
}

// A pass: how many tensors hold, the lowest cosine, and the figures of the tasks. Else the first deciding reasons.
std::string judged_text(const CheckResult& judged) {
  constexpr size_t kReasonsShown = 3;
  std::vector<std::string> words;
  if (judged.verdict != Verdict::kPass) {
    const size_t all = std::min<size_t>(judged.reasons.size(), judged.deciding);
    for (size_t i = 0; i < std::min(all, kReasonsShown); ++i) words.push_back(judged.reasons[i]);
    if (all > kReasonsShown) words.push_back(fmt::format("and {} more", all - kReasonsShown));
    return fmt::format("{}", fmt::join(words, "; "));
  }
  const TensorComparison* lowest = nullptr;
  uint64_t gated = 0;
  for (const TensorComparison& tensor : judged.comparison.tensors) {
    if (!tensor.gated || !tensor.compared()) continue;
    ++gated;
    if (tensor.metrics->names) continue;
    if (lowest == nullptr || tensor.metrics->cosine < lowest->metrics->cosine) lowest = &tensor;
  }
  words.push_back(fmt::format("{} tensors of {} sample{} pass their gates", gated, judged.comparison.samples,
                              judged.comparison.samples == 1 ? "" : "s"));
  if (lowest != nullptr)
    words.back() +=
        fmt::format(", the lowest cosine is {:.6f} ({} of {})", lowest->metrics->cosine, lowest->name, lowest->sample);
  for (const TaskResult& task : judged.tasks)
    for (const TaskGate& gate : task.gates) words.push_back(fmt::format("{}: {}", task.name, gate.text));
  return fmt::format("{}", fmt::join(words, "; "));
}

class Verification {
 public:
  Verification(const VerifyRequest& request, const Package& package)
      : request_(request), package_(package), manifest_(package.manifest) {}

  Result<VerifyResult> run() {
    const auto start = std::chrono::steady_clock::now();
    PARITAS_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(request_.scratch_root));
    scratch_ = scratch.path();
    begin();
    PARITAS_TRY(open_reference());
    PARITAS_TRY(read_gates());
    PARITAS_TRY(check_contexts());
    PARITAS_ASSIGN(stages_, stages_of(package_, request_.search));
    if (check_reload()) {
      check_placement();
      check_traces();
      PARITAS_TRY(check_cpu_parts());
      PARITAS_TRY(check_chain());
      compare_environment();
    }
    conclude();
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

 private:
  void progress(const std::string& stage) const {
    if (request_.progress) request_.progress(stage);
  }

  void add(std::string id, Verdict verdict, std::string text, std::string shows, std::string does_not_show) {
    result_.checks.push_back({std::move(id), verdict, std::move(text), std::move(shows), std::move(does_not_show)});
  }

  void begin() {
    result_.package = package_.folder.string();
    result_.manifest_sha256 = package_.manifest_sha256;
    result_.source_name = manifest_.source_name;
    result_.source_sha256 = manifest_.source_sha256;
    add("files", Verdict::kPass,
        fmt::format("{} files and the manifest have the SHA-256 that they had", manifest_.files.size()),
        "no file was changed, added, removed or swapped since the package was made",
        "who made it: sums are no signature");
  }

  // --- what the package brings

  Status open_reference() {
    const Path folder = package_.path_of(manifest_.reference.folder);
    PARITAS_TRY(resolve_inside(package_.folder, manifest_.reference.folder));
    OpenOptions options;
    options.verify_hashes = true;
    PARITAS_ASSIGN(reference_, open_samples(folder, options));
    if (reference_->sample_count() == 0 || reference_->sample_count() != manifest_.reference.samples)
      return input_error(folder.string(), fmt::format("holds {} samples, the manifest says {}",
                                                      reference_->sample_count(), manifest_.reference.samples));
    PARITAS_TRY(check_contract(folder));
    auto needs = [&](const std::string& tensor) -> Status {
      if (reference_->info().find(tensor) != nullptr) return {};
      return input_error(folder.string(), fmt::format("holds no \"{}\": nothing could be held against it", tensor),
                         "split the model again");
    };
    for (const auto* ports : {&manifest_.inputs, &manifest_.outputs})
      for (const ContractPort& port : *ports) PARITAS_TRY(needs(port.name));
    for (const PackagePart& part : manifest_.parts)
      for (const PackagePort& port : part.outputs) PARITAS_TRY(needs(port.tensor));
    return {};
  }

  // The whole model's inputs and outputs, as the reference recorded them: an input more would be a part left out, an
  // output less one that nobody checks.
  Status check_contract(const Path& folder) const {
    for (const auto& [role, ports] :
         {std::pair(Role::kInput, &manifest_.inputs), {Role::kOutput, &manifest_.outputs}}) {
      std::set<std::string> recorded, declared;
      for (const TensorInfo& tensor : reference_->info().tensors)
        if (tensor.role == role) recorded.insert(tensor.name);
      for (const ContractPort& port : *ports) declared.insert(port.name);
      if (recorded != declared)
        return input_error(folder.string(),
                           fmt::format("holds the {}s {}, the manifest declares {}", name(role),
                                       fmt::join(recorded, ", "), fmt::join(declared, ", ")),
                           "the manifest was edited: split the model again");
    }
    return {};
  }

  Result<GateSet> gates_of(const PackageGates& declared, const std::optional<GateSet>& given) const {
    if (given) return *given;
    return package_gates(package_, declared);
  }

  Status read_gates() {
    PARITAS_ASSIGN(declared_, declared_in(package_));
    PARITAS_ASSIGN(chain_gates_, gates_of(manifest_.chain_gates, request_.gates));
    PARITAS_ASSIGN(cpu_gates_, gates_of(manifest_.cpu_gates, request_.cpu_gates));
    if (request_.gates || request_.cpu_gates)
      result_.notes.push_back("gates were given to this call: the package's own were not used for what they cover");
    return {};
  }

  // A context in another file would not be the one whose hash the manifest and the trace are bound to.
  Status check_contexts() const {
    for (const PackagePart& part : manifest_.parts) {
      if (!part.compiled) continue;
      PARITAS_ASSIGN(const ContextModel context, read_context_model(package_.path_of(part.file)));
      if (part.context && part.context->partition != context.contexts.front().name)
        return input_error(package_.path_of(part.file).string(),
                           fmt::format("holds the context \"{}\", the manifest says \"{}\"",
                                       context.contexts.front().name, part.context->partition),
                           "the manifest was edited: split the model again");
      for (const ContextNode& node : context.contexts)
        if (!node.embedded)
          return input_error(package_.path_of(part.file).string(), "refers to a context in another file",
                             "compile it with ep.context_embed_mode=1, and split the model again");
    }
    return {};
  }

  // --- sessions

  bool check_reload() {
    progress("opening the parts");
    auto chain = Chain::open(stages_, request_.worker, scratch_);
    if (!chain) {
      add("reload", Verdict::kInvalid, chain.error().message(), "a shipped part cannot be used on this machine", "why");
      return false;
    }
    chain_.emplace(std::move(*chain));
    std::vector<std::string> words;
    for (size_t i = 0; i < chain_->size(); ++i) {
      const SessionInfo& session = chain_->session(i);
      result_.parts.push_back({chain_->stage(i).name, session.seconds, chain_->placement(i)});
      words.push_back(fmt::format("{} in {:.3f} s", manifest_.parts[i].file, session.seconds));
      if (!session.unoptimised_because.empty())
        result_.notes.push_back(unoptimised_note(chain_->stage(i).target, session.unoptimised_because));
      for (const std::string& note : chain_->stage(i).target.notes)
        if (std::find(result_.notes.begin(), result_.notes.end(), note) == result_.notes.end())
          result_.notes.push_back(note);
    }
    add("reload", Verdict::kPass, fmt::format("{}", fmt::join(words, ", ")),
        "every part opens from its shipped file in a fresh process, with the inputs and outputs that the manifest "
        "names",
        "a loading time: single observations");
    return true;
  }

  // --- where the device parts ran

  void check_placement() {
    bool any = false;
    for (size_t i = 0; i < chain_->size(); ++i)
      if (manifest_.parts[i].on_device && chain_->stage(i).target.capabilities.device) {
        any = true;
        place(i);
      }
    if (!any)
      add("placement", Verdict::kPass, "no part was made for a device other than the CPU",
          "all parts run on the CPU, some perhaps in a number-format simulator", "anything about an accelerator");
  }

  void place(size_t i) {
    const PackagePart& part = manifest_.parts[i];
    const Target& target = chain_->stage(i).target;
    const PlacementCounts here = chain_->placement(i);
    const bool fallback_off = target.session_entries.count("session.disable_cpu_ep_fallback") != 0;
    const std::string text =
        fmt::format("{}: compiled with {}; loaded with {}{}", part.name, counts_text(part.placement), counts_text(here),
                    fallback_off ? ", fallback to the CPU disabled" : ", fallback to the CPU could not be disabled");
    Verdict verdict = Verdict::kPass;
    if (here.total() == 0 || (part.placement.total() == 0 && !part.compiled))
      verdict = Verdict::kNotJudged;
    else if (!all_on(here, target.provider) || (part.placement.total() > 0 && !all_on(part.placement, part.provider)))
      verdict = Verdict::kDeviates;
    else if (target.capabilities.cpu_backend)
      verdict = Verdict::kDeviates;
    add("placement", verdict,
        target.capabilities.cpu_backend ? text + "; its back end computes on the CPU itself" : text,
        fmt::format("the part is assigned to {} whole, and would not have opened otherwise", target.provider),
        "what the provider's kernels do inside, or on which unit of the chip");
  }

  void check_traces() {
    for (size_t i = 0; i < manifest_.parts.size(); ++i) {
      const PackagePart& part = manifest_.parts[i];
      if (part.trace) {
        check_trace(part);
      } else if (part.compiled) {
        result_.notes.push_back(fmt::format(
            "part \"{}\": no op trace of its compilation belongs to the package: which operations went into "
            "the context is not shown",
            part.name));
      }
    }
  }

  void check_trace(const PackagePart& part) {
    auto note = [&](Verdict verdict, std::string text) {
      add("trace", verdict, fmt::format("{}: {}", part.name, text),
          "which operations the context was compiled from, as the provider wrote it down when it compiled",
          "that the provider wrote the truth; loading a context writes no trace");
    };
    const auto trace = read_qnn_op_trace(package_.path_of(part.trace->file));
    if (!trace) return note(Verdict::kInvalid, trace.error().message());
    const uint64_t ops = traced_sources(*trace);
    if (ops == 0 || ops != part.trace->source_ops)
      return note(Verdict::kInvalid,
                  fmt::format("the trace names {} operations, the manifest says {}", ops, part.trace->source_ops));
    if (!trace->left.empty())
      return note(Verdict::kDeviates,
                  fmt::format("the provider left {} nodes to others, the first is {} ({})", trace->left.size(),
                              trace->left.front().name, trace->left.front().reason));
    const bool named =
        !part.context || trace->graphs.empty() ||
        std::find(trace->graphs.begin(), trace->graphs.end(), part.context->partition) != trace->graphs.end();
    if (!named)
      return note(Verdict::kInvalid, fmt::format("the trace is of the graph \"{}\", the context of \"{}\"",
                                                 trace->graphs.front(), part.context->partition));
    note(Verdict::kPass,
         fmt::format("{} operations of the compiled graph are named, bound to the context's SHA-256", ops));
  }

  // --- results

  bool is_cpu_part(size_t i) const { return !manifest_.parts[i].on_device; }

  Status write_recording(const Path& folder, const std::vector<NamedTensors>& samples,
                         const std::set<std::string>& outputs, const std::set<std::string>& inputs) {
    PARITAS_ASSIGN(auto writer, RecordingWriter::create(folder, false));
    RunInfo info;
    info.tool_version = request_.tool_version;
    for (const NamedTensors& sample : samples) PARITAS_TRY(writer.add_sample(sample));
    info.tensors = describe_package_tensors(package_, samples.front(), stages_);
    for (TensorInfo& tensor : info.tensors)
      tensor.role = outputs.count(tensor.name) != 0  ? Role::kOutput
                    : inputs.count(tensor.name) != 0 ? Role::kInput
                                                     : Role::kIntermediate;
    return writer.finish(info);
  }

  static NamedTensors only(const NamedTensors& tensors, const std::set<std::string>& names) {
    NamedTensors kept;
    for (const auto& [name, tensor] : tensors)
      if (names.count(name) != 0) kept.emplace_back(name, tensor);
    return kept;
  }

  Result<CheckResult> judge(const std::string& name, const Declared& declared, const GateSet& gates,
                            const Path& reference) {
    JudgeRequest judge;
    judge.subject = fmt::format("{} ({})", package_.folder.string(), name);
    judge.reference = reference;
    judge.device = scratch_ / name;
    judge.declared = declared;
    judge.gates = gates;
    judge.threads = request_.threads;
    judge.scratch = scratch_;
    judge.progress = request_.progress;
    return judge_recordings(judge);
  }

  // CPU parts alone, each fed with the reference's tensors: what the cut and the CPU's kernels cost without a device.
  Status check_cpu_parts() {
    std::set<std::string> made, read;
    TypedNames typed;
    for (size_t i = 0; i < manifest_.parts.size(); ++i) {
      if (!is_cpu_part(i)) continue;
      for (const PackagePort& port : manifest_.parts[i].outputs) {
        made.insert(port.tensor);
        typed.emplace_back(port.tensor, port.dtype);
      }
      for (const PackagePort& port : manifest_.parts[i].inputs) read.insert(port.tensor);
    }
    if (made.empty()) {
      result_.notes.push_back("no part runs on the CPU: there is no CPU part to check alone");
      return {};
    }
    std::vector<NamedTensors> expected, got;
    for (uint64_t s = 0; s < reference_->sample_count(); ++s) {
      progress(fmt::format("CPU parts: sample {} of {}", s + 1, reference_->sample_count()));
      PARITAS_ASSIGN(const Sample sample, reference_->sample(s));
      NamedTensors fed = only(sample.tensors, read), results = fed;
      for (size_t i = 0; i < chain_->size(); ++i) {
        if (!is_cpu_part(i)) continue;
        auto outputs = chain_->run_stage(i, sample.tensors);
        if (!outputs) return run_failed("cpu parts", outputs.error());
        results.insert(results.end(), outputs->begin(), outputs->end());
      }
      for (const auto& each : only(sample.tensors, made)) fed.push_back(each);
      expected.push_back(without_repeats(fed));
      got.push_back(without_repeats(results, made));
    }
    const Path reference = scratch_ / "cpu-parts-reference";
    PARITAS_TRY(write_recording(reference, expected, made, read));
    PARITAS_TRY(write_recording(scratch_ / "cpu-parts", got, made, read));
    Declared declared = declared_;
    GateSet gates = cpu_gates_;
    std::vector<std::string> left_out;
    restrict_to(typed, declared, gates, left_out);
    for (const std::string& text : left_out) result_.notes.push_back("CPU parts alone: " + text);
    PARITAS_ASSIGN(result_.cpu_parts, judge("cpu-parts", declared, gates, reference));
    add_judged("cpu parts", *result_.cpu_parts,
               "what the CPU parts make of the reference's own tensors is what the reference makes of them",
               "how they take a device's tensors");
    return {};
  }

  // A tensor that one CPU part makes and another reads is in both lists: the one that was made counts.
  static NamedTensors without_repeats(const NamedTensors& tensors, const std::set<std::string>& made = {}) {
    NamedTensors kept;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const std::string& name = tensors[i].first;
      auto same = [&](const auto& other) { return other.first == name; };
      const bool later = std::any_of(tensors.begin() + static_cast<std::ptrdiff_t>(i) + 1, tensors.end(), same);
      const bool earlier = std::any_of(kept.begin(), kept.end(), same);
      if (earlier || (later && made.count(name) != 0)) continue;
      kept.push_back(tensors[i]);
    }
    return kept;
  }

  Status run_failed(const std::string& id, const Error& error) {
    add(id, Verdict::kInvalid, error.message(), "a shipped part does not run on this machine", "why");
    return {};
  }

  Result<bool> run_chain(const std::string& name) {
    std::vector<NamedTensors> runs;
    for (uint64_t s = 0; s < reference_->sample_count(); ++s) {
      progress(fmt::format("{}: sample {} of {}", name, s + 1, reference_->sample_count()));
      PARITAS_ASSIGN(const Sample sample, reference_->sample(s));
      NamedTensors tensors;
      for (const ContractPort& input : manifest_.inputs)
        for (const auto& each : sample.tensors)
          if (each.first == input.name) tensors.push_back(each);
      auto made = chain_->run(tensors);
      if (!made) {
        PARITAS_TRY(run_failed(name, made.error()));
        return false;
      }
      tensors.insert(tensors.end(), made->begin(), made->end());
      runs.push_back(std::move(tensors));
    }
    std::set<std::string> outputs, inputs;
    for (const ContractPort& port : manifest_.outputs) outputs.insert(port.name);
    for (const ContractPort& port : manifest_.inputs) inputs.insert(port.name);
    PARITAS_TRY(write_recording(scratch_ / name, runs, outputs, inputs));
    return true;
  }

  Status check_chain() {
    const Path reference = package_.path_of(manifest_.reference.folder);
    PARITAS_ASSIGN(const bool ran, run_chain("chain"));
    if (!ran) return {};
    PARITAS_ASSIGN(result_.chain, judge("chain", declared_, chain_gates_, reference));
    add_judged(
        "chain", *result_.chain,
        "the shipped parts, run one after the other on the package's samples, give what the whole model gives on "
        "the reference, within the gates",
        "other inputs than these samples, and other machines");
    PARITAS_ASSIGN(const bool again, run_chain("repeat"));
    if (!again) return {};
    PARITAS_ASSIGN(const std::string difference, differs_from_repeat());
    const char* shows = "whether the same input gives the same bits, twice in the same sessions";
    if (difference.empty()) {
      add("repeat", Verdict::kPass, "a second run of every sample gives the same bits", shows, "drift over hours");
      return {};
    }
    PARITAS_ASSIGN(const CheckResult second, judge("repeat", declared_, chain_gates_, reference));
    add("repeat", second.verdict,
        fmt::format("a second run gives other bits ({}); judged by the same gates it is \"{}\"", difference,
                    name(second.verdict)),
        shows, "how large the noise can become");
    return {};
  }

  // The first tensor that a second run made otherwise.
  Result<std::string> differs_from_repeat() const {
    PARITAS_ASSIGN(const auto first, open_samples(scratch_ / "chain", {}));
    PARITAS_ASSIGN(const auto second, open_samples(scratch_ / "repeat", {}));
    for (uint64_t s = 0; s < first->sample_count(); ++s) {
      PARITAS_ASSIGN(const Sample a, first->sample(s));
      PARITAS_ASSIGN(const Sample b, second->sample(s));
      for (size_t i = 0; i < a.tensors.size(); ++i) {
        PARITAS_ASSIGN(const bool equal, equal_bytes(a.tensors[i].second, b.tensors[i].second));
        if (!equal) return fmt::format("sample {}, \"{}\"", s, a.tensors[i].first);
      }
    }
    return std::string();
  }

  void add_judged(const std::string& id, const CheckResult& judged, std::string shows, std::string does_not_show) {
    add(id, judged.verdict, judged_text(judged), std::move(shows), std::move(does_not_show));
  }

  // --- machine

  void compare_environment() {
    result_.here.host = host_summary();
    for (size_t i = 0; i < chain_->size(); ++i) {
      add_libraries(libraries_of(chain_->stage(i).target, chain_->identity(i)), result_.here.libraries);
      // What the parts were told; the SDK that compiled is the context's own.
      for (const auto& [key, value] : device_facts(chain_->stage(i).target)) result_.here.device[key] = value;
    }
    result_.environment = environment_differences(manifest_.environment, result_.here);
  }

  void conclude() {
    VerdictBuilder builder;
    for (const PackageCheck& check : result_.checks) {
      const std::string reason = fmt::format("{}: {}", check.id, check.text);
      builder.add(check.verdict, reason);
    }
    result_.verdict = builder.verdict();
    result_.reasons = builder.reasons();
    result_.deciding = builder.deciding();
  }

  const VerifyRequest& request_;
  const Package& package_;
  const Manifest& manifest_;
  Path scratch_;
  std::unique_ptr<SampleStream> reference_;
  Declared declared_;
  GateSet chain_gates_, cpu_gates_;
  std::vector<Stage> stages_;
  std::optional<Chain> chain_;
  VerifyResult result_;
};

}  // namespace

std::vector<std::string> environment_differences(const PackageEnvironment& made, const PackageEnvironment& here) {
  std::vector<std::string> differences;
  if (made.host != here.host)
    differences.push_back(fmt::format("made on \"{}\", verified on \"{}\"", made.host, here.host));
  for (const PackageLibrary& library : made.libraries) {
    const auto it = std::find_if(here.libraries.begin(), here.libraries.end(),
                                 [&](const PackageLibrary& l) { return l.name == library.name; });
    if (it == here.libraries.end()) {
      differences.push_back(fmt::format("{} {} took part in making it, not here", library.name, library.version));
    } else if (it->sha256 != library.sha256) {
      differences.push_back(it->version != library.version
                                ? fmt::format("{}: {} then, {} here", library.name, library.version, it->version)
                                : fmt::format("{}: another file than then (SHA-256 {} then, {} here)", library.name,
                                              library.sha256.substr(0, 12), it->sha256.substr(0, 12)));
    }
  }
  for (const PackageLibrary& library : here.libraries)
    if (std::none_of(made.libraries.begin(), made.libraries.end(),
                     [&](const PackageLibrary& l) { return l.name == library.name; }))
      differences.push_back(fmt::format("{} {} takes part here, not then", library.name, library.version));
  for (const auto& [key, value] : made.device)
    if (const auto it = here.device.find(key); it != here.device.end() && it->second != value)
      differences.push_back(fmt::format("{}: {} then, {} here", key, value, it->second));
  return differences;
}

Result<VerifyResult> verify_opened(const VerifyRequest& request, const Package& package) {
  return Verification(request, package).run();
}

Result<VerifyResult> verify(const VerifyRequest& request) {
  PARITAS_ASSIGN(const Package package, open_package(request.package));
  return verify_opened(request, package);
}

}  // namespace paritas
