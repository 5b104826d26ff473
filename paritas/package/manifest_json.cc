#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "paritas/package/json_fields.h"
#include "paritas/package/manifest.h"
#include "paritas/recording/placement_counts_json.h"

namespace paritas {
namespace {

Json to_json(const ContractPort& port);
Json to_json(const PackagePort& port);
Json to_json(const PackagePart& part);
Json to_json(const BoundaryTensor& tensor);
Json to_json(const PackageCut& cut);
Json to_json(const PackageLibrary& library);
Json to_json(const PackageFile& file);
Json to_json(const TriedBefore& tried);

template <class T>
Json list(const std::vector<T>& items) {
  Json array = Json::array();
  for (const T& item : items) array.push_back(to_json(item));
  return array;
}

Json to_json(const ContractPort& port) {
  Json json = {{"name", port.name}, {"dtype", name(port.dtype)}, {"shape", port.shape}};
  if (!port.role.empty()) json["role"] = port.role;
  if (!port.meaning.empty()) json["meaning"] = port.meaning;
  if (port.picture) json["picture"] = *port.picture;
  return json;
}

Json to_json(const PackagePort& port) {
  return {{"name", port.name}, {"tensor", port.tensor}, {"dtype", name(port.dtype)}, {"shape", port.shape}};
}

Json to_json(const PackagePart& part) {
  Json json = {{"name", part.name},
               {"file", part.file},
               {"sha256", part.sha256},
               {"weights", part.weights},
               {"on_device", part.on_device},
               {"compiled", part.compiled},
               {"target", part.target},
               {"provider", part.provider},
               {"options", part.options},
               {"optimisation", part.optimisation},
               {"threads", part.threads},
               {"inputs", list(part.inputs)},
               {"outputs", list(part.outputs)},
               {"nodes", part.nodes},
               {"placement", to_json(part.placement)},
               {"build_seconds", json_number(part.build_seconds)},
               {"reload_seconds", json_number(part.reload_seconds)}};
  if (part.context)
    json["context"] = {{"provider", part.context->provider},
                       {"partition", part.context->partition},
                       {"sdk_version", part.context->sdk_version},
                       {"embedded", part.context->embedded}};
  if (part.trace)
    json["op_trace"] = {{"file", part.trace->file},
                        {"context_sha256", part.trace->context_sha256},
                        {"source_ops", part.trace->source_ops}};
  return json;
}

Json to_json(const BoundaryTensor& tensor) {
  return {{"name", tensor.name},   {"source", tensor.source},       {"dtype", name(tensor.dtype)},
          {"shape", tensor.shape}, {"elements", tensor.elements},   {"bytes", tensor.bytes},
          {"op", tensor.op},       {"made_from", tensor.made_from}, {"read_by", tensor.read_by}};
}

Json to_json(const PackageCut& cut) { return {{"name", cut.name}, {"tensors", list(cut.tensors)}}; }

Json to_json(const PackageLibrary& library) {
  return {{"name", library.name}, {"version", library.version}, {"sha256", library.sha256}};
}

Json to_json(const PackageFile& file) { return {{"path", file.path}, {"sha256", file.sha256}, {"bytes", file.bytes}}; }

Json to_json(const TriedBefore& tried) {
  return {{"date", tried.date},
          {"kind", tried.kind},
          {"change", tried.change},
          {"verdict", tried.verdict},
          {"outcome", tried.outcome}};
}

Json to_json(const PackageGates& gates) {
  if (gates.file.empty()) return {};
  return {{"file", gates.file}, {"sha256", gates.sha256}};
}

Result<ContractPort> read_contract(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  ContractPort port{fields.text("name"), fields.dtype("dtype"), fields.shape("shape"), {}, {}, {}};
  if (fields.optional("role") != nullptr) port.role = fields.text("role");
  if (fields.optional("meaning") != nullptr) port.meaning = fields.text("meaning");
  if (const Json* picture = fields.optional("picture")) port.picture = *picture;
  PARITAS_TRY(fields.status());
  return port;
}

Result<PackagePort> read_port(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  PackagePort port{fields.text("name"), fields.text("tensor"), fields.dtype("dtype"), fields.shape("shape")};
  PARITAS_TRY(fields.status());
  return port;
}

template <class T>
void read_list(JsonFields& fields, const char* key, Result<T> (*read)(const Json&, const std::string&),
               std::vector<T>& items) {
  fields.each(key, [&](const Json& element) -> Status {
    PARITAS_ASSIGN(T item, read(element, fmt::format("{}, \"{}\"", fields.where(), key)));
    items.push_back(std::move(item));
    return {};
  });
}

Result<ContextFacts> read_context(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  ContextFacts facts{fields.text("provider"), fields.text("partition"), fields.text("sdk_version"),
                     fields.flag("embedded")};
  PARITAS_TRY(fields.status());
  return facts;
}

Result<CompileTrace> read_trace(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  CompileTrace trace{fields.text("file"), fields.text("context_sha256"), fields.whole("source_ops")};
  PARITAS_TRY(fields.status());
  return trace;
}

Result<PackagePart> read_part(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  PackagePart part;
  part.name = fields.text("name");
  part.file = fields.text("file");
  part.sha256 = fields.text("sha256");
  part.weights = fields.texts("weights");
  part.on_device = fields.flag("on_device");
  part.compiled = fields.flag("compiled");
  part.target = fields.text("target");
  part.provider = fields.text("provider");
  part.options = fields.text_table("options");
  part.optimisation = fields.text("optimisation");
  part.threads = static_cast<int>(std::min<uint64_t>(fields.whole("threads"), 1024));
  read_list(fields, "inputs", read_port, part.inputs);
  read_list(fields, "outputs", read_port, part.outputs);
  part.nodes = fields.whole("nodes");
  fields.with("placement", [&](const Json& placement) -> Status {
    PARITAS_ASSIGN(part.placement, placement_from_json(placement, where));
    return {};
  });
  part.build_seconds = fields.number("build_seconds");
  part.reload_seconds = fields.number("reload_seconds");
  if (const Json* context = fields.optional("context")) {
    PARITAS_ASSIGN(part.context, read_context(*context, where));
  }
  if (const Json* trace = fields.optional("op_trace")) {
    PARITAS_ASSIGN(part.trace, read_trace(*trace, where));
  }
  PARITAS_TRY(fields.status());
  return part;
}

Result<BoundaryTensor> read_boundary(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  BoundaryTensor tensor;
  tensor.name = fields.text("name");
  tensor.source = fields.text("source");
  tensor.dtype = fields.dtype("dtype");
  tensor.shape = fields.shape("shape");
  tensor.elements = fields.whole("elements");
  tensor.bytes = fields.whole("bytes");
  tensor.op = fields.text("op");
  tensor.made_from = fields.texts("made_from");
  tensor.read_by = fields.texts("read_by");
  PARITAS_TRY(fields.status());
  return tensor;
}

Result<PackageCut> read_cut(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  PackageCut cut;
  cut.name = fields.text("name");
  read_list(fields, "tensors", read_boundary, cut.tensors);
  PARITAS_TRY(fields.status());
  return cut;
}

Result<PackageLibrary> read_library(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  PackageLibrary library{fields.text("name"), fields.text("version"), fields.text("sha256")};
  PARITAS_TRY(fields.status());
  return library;
}

Result<PackageFile> read_file(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  PackageFile file{fields.text("path"), fields.text("sha256"), fields.whole("bytes")};
  PARITAS_TRY(fields.status());
  return file;
}

Result<TriedBefore> read_tried(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  TriedBefore tried{fields.text("date"), fields.text("kind"), fields.text("change"), fields.text("verdict"),
                    fields.text("outcome")};
  PARITAS_TRY(fields.status());
  return tried;
}

Result<PackageGates> read_gates(const JsonFields& fields, const char* key) {
  const Json* json = fields.optional(key);
  if (json == nullptr) return PackageGates{};
  JsonFields inner(*json, fmt::format("{}, \"{}\"", fields.where(), key));
  PackageGates gates{inner.text("file"), inner.text("sha256")};
  PARITAS_TRY(inner.status());
  return gates;
}

void read_environment(JsonFields& fields, PackageEnvironment& environment) {
  fields.with("environment", [&](const Json& json) -> Status {
    JsonFields inner(json, fields.where() + ", \"environment\"");
    environment.host = inner.text("host");
    read_list(inner, "libraries", read_library, environment.libraries);
    environment.device = inner.text_table("device");
    return inner.status();
  });
}

// Holds the parts of a manifest against each other.
class Coherence {
 public:
  Coherence(const Manifest& manifest, const std::string& subject) : m_(manifest), subject_(subject) {}

  Status check() {
    PARITAS_TRY(check_files());
    for (const ContractPort& input : m_.inputs)
      if (!made_.insert(input.name).second) return wrong(fmt::format("the input \"{}\" stands twice", input.name));
    if (m_.outputs.empty()) return wrong("it has no outputs");
    if (m_.parts.empty()) return wrong("it has no parts");
    std::set<std::string> names;
    for (const PackagePart& part : m_.parts) {
      if (!names.insert(part.name).second) return wrong(fmt::format("two parts are called \"{}\"", part.name));
      PARITAS_TRY(check_part(part));
    }
    std::set<std::string> outputs;
    for (const ContractPort& output : m_.outputs) {
      if (by_parts_.count(output.name) == 0) return wrong(fmt::format("no part makes the output \"{}\"", output.name));
      if (!outputs.insert(output.name).second) return wrong(fmt::format("the output \"{}\" stands twice", output.name));
    }
    return {};
  }

 private:
  Unexpected wrong(const std::string& what) const {
    return input_error(subject_, what, "the manifest is damaged or was edited: split the model again");
  }

  Status check_files() const {
    std::set<std::string> paths;
    for (const PackageFile& file : m_.files)
      if (!paths.insert(file.path).second) return wrong(fmt::format("\"{}\" is listed twice", file.path));
    for (const PackageGates* gates : {&m_.chain_gates, &m_.cpu_gates})
      if (!gates->file.empty()) PARITAS_TRY(listed(gates->file, gates->sha256));
    if (m_.file(m_.reference.folder + "/run.json") == nullptr) return wrong("its reference is not listed under files");
    return {};
  }

  Status listed(const std::string& path, const std::string& sha256) const {
    const PackageFile* file = m_.file(path);
    if (file == nullptr) return wrong(fmt::format("\"{}\" is named but not listed under files", path));
    if (!sha256.empty() && file->sha256 != sha256) return wrong(fmt::format("two SHA-256 are given for \"{}\"", path));
    return {};
  }

  // A tensor has one type and shape: those of the contract, or of the cut.
  Status check_type(const PackagePort& port) const {
    auto agrees = [&](const auto& declared) { return declared.dtype == port.dtype && declared.shape == port.shape; };
    for (const auto* ports : {&m_.inputs, &m_.outputs})
      for (const ContractPort& declared : *ports)
        if (declared.name == port.tensor)
          return agrees(declared) ? Status{}
                                  : wrong(fmt::format("\"{}\" is declared with two types or shapes", port.tensor));
    const BoundaryTensor* boundary = m_.boundary(port.tensor);
    if (boundary == nullptr)
      return wrong(fmt::format("\"{}\" is no input, no output, and no tensor of a cut", port.tensor));
    if (!agrees(*boundary)) return wrong(fmt::format("\"{}\" is declared with two types or shapes", port.tensor));
    return {};
  }

  Status check_part(const PackagePart& part) {
    if (!is_part_name(part.name)) return wrong("a part has a name that cannot be a file's");
    if (part.compiled != part.context.has_value())
      return wrong(fmt::format("the part \"{}\" is compiled, or has a context, but not both", part.name));
    if (part.sha256.empty()) return wrong(fmt::format("the part \"{}\" has no SHA-256", part.name));
    PARITAS_TRY(listed(part.file, part.sha256));
    for (const std::string& weights : part.weights) PARITAS_TRY(listed(weights, {}));
    if (part.trace) {
      PARITAS_TRY(listed(part.trace->file, {}));
      if (part.trace->context_sha256 != part.sha256)
        return wrong(
            fmt::format("the op trace \"{}\" belongs to another context than \"{}\"", part.trace->file, part.file));
    }
    for (const PackagePort& input : part.inputs)
      if (made_.count(input.tensor) == 0)
        return wrong(
            fmt::format("the part \"{}\" reads \"{}\", which nothing before it makes", part.name, input.tensor));
    if (part.outputs.empty()) return wrong(fmt::format("the part \"{}\" has no outputs", part.name));
    for (const PackagePort& output : part.outputs) {
      if (!made_.insert(output.tensor).second) return wrong(fmt::format("\"{}\" is made twice", output.tensor));
      by_parts_.insert(output.tensor);
    }
    for (const auto* ports : {&part.inputs, &part.outputs})
      for (const PackagePort& port : *ports) PARITAS_TRY(check_type(port));
    return {};
  }

  const Manifest& m_;
  const std::string& subject_;
  std::set<std::string> made_, by_parts_;  // what is there, and what parts made of it
};

}  // namespace

bool is_part_name(const std::string& name) {
  return !name.empty() && name.front() != '.' && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
}

const PackagePort* PackagePart::output_of(const std::string& tensor) const {
  for (const PackagePort& port : outputs)
    if (port.tensor == tensor) return &port;
  return nullptr;
}

const PackageFile* Manifest::file(const std::string& path) const {
  for (const PackageFile& file : files)
    if (file.path == path) return &file;
  return nullptr;
}

const BoundaryTensor* Manifest::boundary(const std::string& name) const {
  for (const PackageCut& cut : cuts)
    for (const BoundaryTensor& tensor : cut.tensors)
      if (tensor.name == name) return &tensor;
  return nullptr;
}

Json to_json(const Manifest& m) {
  return {
      {"schema", kManifestSchema},
      {"tool_version", m.tool_version},
      {"created", m.created},
      {"command", m.command},
      {"source",
       {{"name", m.source_name},
        {"sha256", m.source_sha256},
        {"opsets", m.opsets},
        {"producer", m.producer},
        {"pinned", m.pinned}}},
      {"inputs", list(m.inputs)},
      {"outputs", list(m.outputs)},
      {"cuts", list(m.cuts)},
      {"parts", list(m.parts)},
      {"premise", m.premise},
      {"reference", {{"folder", m.reference.folder}, {"target", m.reference.target}, {"samples", m.reference.samples}}},
      {"chain_gates", to_json(m.chain_gates)},
      {"cpu_gates", to_json(m.cpu_gates)},
      {"tasks", m.tasks},
      {"environment",
       {{"host", m.environment.host}, {"libraries", list(m.environment.libraries)}, {"device", m.environment.device}}},
      {"verification", m.verification},
      {"timings", m.timings},
      {"tried", list(m.tried)},
      {"files", list(m.files)},
      {"notes", m.notes}};
}

Result<Manifest> manifest_from_json(const Json& json, const std::string& subject) {
  JsonFields fields(json, subject);
  if (fields.text("schema") != kManifestSchema)
    fields.fault(input_error(subject, fmt::format("is no manifest of the schema {}", kManifestSchema)).value());
  Manifest m;
  m.tool_version = fields.text("tool_version");
  m.created = fields.text("created");
  m.command = fields.texts("command");
  fields.with("source", [&](const Json& source) -> Status {
    JsonFields inner(source, subject + ", \"source\"");
    m.source_name = inner.text("name");
    m.source_sha256 = inner.text("sha256");
    m.opsets = inner.whole_table("opsets");
    m.producer = inner.text("producer");
    m.pinned = inner.texts("pinned");
    return inner.status();
  });
  read_list(fields, "inputs", read_contract, m.inputs);
  read_list(fields, "outputs", read_contract, m.outputs);
  read_list(fields, "cuts", read_cut, m.cuts);
  read_list(fields, "parts", read_part, m.parts);
  m.premise = fields.text("premise");
  fields.with("reference", [&](const Json& reference) -> Status {
    JsonFields inner(reference, subject + ", \"reference\"");
    m.reference = {inner.text("folder"), inner.text("target"), inner.whole("samples")};
    return inner.status();
  });
  PARITAS_ASSIGN(m.chain_gates, read_gates(fields, "chain_gates"));
  PARITAS_ASSIGN(m.cpu_gates, read_gates(fields, "cpu_gates"));
  if (const Json* tasks = fields.optional("tasks")) m.tasks = *tasks;
  read_environment(fields, m.environment);
  if (const Json* verification = fields.optional("verification")) m.verification = *verification;
  if (const Json* timings = fields.optional("timings")) m.timings = *timings;
  read_list(fields, "tried", read_tried, m.tried);
  read_list(fields, "files", read_file, m.files);
  m.notes = fields.texts("notes");
  PARITAS_TRY(fields.status());
  PARITAS_TRY(Coherence(m, subject).check());
  return m;
}

}  // namespace paritas
