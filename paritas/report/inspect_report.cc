#include <algorithm>

#include <fmt/format.h>

#include "paritas/report/reports.h"
#include "paritas/report/visible.h"

namespace paritas {
namespace {

constexpr size_t kDefaultTensors = 20;

std::string ports(const std::vector<InspectedTensor>& list, const std::string& title, const Style& style) {
  std::string out;
  for (size_t i = 0; i < list.size(); ++i)
    out += fmt::format("{}{} {} {}\n",
                       i == 0 ? bold(style, title) + std::string(12 - title.size(), ' ') : std::string(12, ' '),
                       visible(list[i].name), visible(list[i].dtype), visible(list[i].shape));
  return out;
}

std::string model_text(const Inspection& m, const Style& style) {
  std::string opsets;
  for (const auto& [domain, version] : m.opsets)
    opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ", domain, version);
  std::string out = fmt::format("{}: {}, IR {}, opset {}, made by {}\n", visible(m.path), m.kind, m.ir_version,
                                visible(opsets), m.producer.empty() ? "an unnamed producer" : visible(m.producer));
  out += fmt::format("{} nodes, {} bytes of initialisers\n\n", with_thousands(m.nodes), with_thousands(m.weight_bytes));
  out += ports(m.inputs, "inputs", style) + ports(m.outputs, "outputs", style) + "\n";
  std::vector<std::pair<std::string, uint64_t>> ops(m.ops.begin(), m.ops.end());
  std::stable_sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string line;
  for (const auto& [op, count] : ops) line += fmt::format("{}{} {}", line.empty() ? "" : ", ", op, count);
  return out + wrap(line, bold(style, "operators") + "   ", std::string(12, ' '), style.width);
}

std::string tensor_table(const Inspection& i, const Style& style) {
  const bool is_model = !i.ops.empty();
  Table table(is_model ? std::vector<std::string>{"tensor", "op", "node"}
                       : std::vector<std::string>{"tensor", "type", "shape", "role", "op"},
              std::vector<bool>(is_model ? 3 : 5, false));
  size_t shown = 0;
  for (const auto& t : i.tensors) {
    if (!style.verbose && shown == kDefaultTensors) break;
    ++shown;
    if (is_model)
      table.row({t.name, t.op, t.node});
    else
      table.row({t.name, t.dtype, t.shape, t.role, t.op});
  }
  std::string out = table.render(style);
  if (shown < i.tensors.size()) out += fmt::format("... and {} more (--verbose shows all)\n", i.tensors.size() - shown);
  return out;
}

// How the recording came to be, as far as it is known: that of an import knows neither target nor runtime.
std::string run_text(const RunInfo& run) {
  std::string text = run.model_path;
  if (!run.target.empty()) text += fmt::format("{}on {}", text.empty() ? "" : " ", run.target);
  const std::string by =
      run.provider + (run.provider.empty() || run.runtime.version.empty() ? "" : " ") + run.runtime.version;
  if (!by.empty()) text += fmt::format("{}({})", text.empty() ? "" : " ", by);
  if (run.target.empty() && !run.notes.empty())
    text += fmt::format("{}{}", text.empty() ? "" : ", ", run.notes.front());
  return text.empty() ? "how it was made is not recorded" : text;
}

Json tensor_json(const InspectedTensor& t) {
  Json json = {{"name", t.name}};
  for (const auto& [key, value] : {std::pair("dtype", &t.dtype), std::pair("shape", &t.shape),
                                   std::pair("role", &t.role), std::pair("node", &t.node), std::pair("op", &t.op)})
    if (!value->empty()) json[key] = *value;
  return json;
}

Json tensors_json(const std::vector<InspectedTensor>& tensors) {
  Json array = Json::array();
  for (const auto& t : tensors) array.push_back(tensor_json(t));
  return array;
}

}  // namespace

std::string terminal(const Inspection& i, const Style& style) {
  if (!i.ops.empty() || i.kind == "ONNX model")
    return model_text(i, style) + (style.verbose ? "\n" + tensor_table(i, style) : std::string());
  std::string out = fmt::format("{}: {}, {} sample{}, {} tensor{}\n", visible(i.path), i.kind, i.samples,
                                i.samples == 1 ? "" : "s", i.tensors.size(), i.tensors.size() == 1 ? "" : "s");
  if (i.run) {
    out += run_text(*i.run) + "\n";
    if (i.run->placement && i.run->placement->total() > 0)
      out += fmt::format("{} of {} nodes on {}\n", i.run->placement->on(i.run->placement->requested),
                         i.run->placement->total(), i.run->placement->requested);
  }
  return out + "\n" + tensor_table(i, style);
}

Json to_json(const Inspection& i) {
  Json json = {{"schema", "paritas.inspect/1"}, {"path", i.path}, {"kind", i.kind}};
  if (i.kind == "ONNX model") {
    json["ir_version"] = i.ir_version;
    json["opsets"] = i.opsets;
    json["producer"] = i.producer;
    json["node_count"] = i.nodes;
    json["ops"] = i.ops;
    json["weight_bytes"] = i.weight_bytes;
    json["inputs"] = tensors_json(i.inputs);
    json["outputs"] = tensors_json(i.outputs);
  } else {
    json["samples"] = i.samples;
  }
  json["tensors"] = tensors_json(i.tensors);
  if (i.run) json["run"] = to_json(*i.run);
  return json;
}

}  // namespace paritas
