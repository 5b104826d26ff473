#include "paritas/report/tflite_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/report/visible.h"

namespace paritas {
namespace {

std::string quantisation_text(const std::optional<Quantisation>& q) {
  if (!q) return "";
  if (q->scale.size() == 1) return fmt::format("{:.6g}, {}", q->scale[0], q->zero_point[0]);
  const auto [low, high] = std::minmax_element(q->scale.begin(), q->scale.end());
  return fmt::format("{} scales of axis {}, {:.3g} to {:.3g}", q->scale.size(), q->axis.value_or(0), *low, *high);
}

std::string ports(const TfliteInspection& i, const std::string& kind, const std::string& title, const Style& style) {
  std::string out;
  for (const TfliteTensor& t : i.tensors) {
    if (t.kind != kind) continue;
    const std::string quantisation = quantisation_text(t.quantisation);
    out += fmt::format("{}{} {} {}{}\n",
                       out.empty() ? bold(style, title) + std::string(12 - title.size(), ' ') : std::string(12, ' '),
                       visible(t.id), t.type, t.shape,
                       quantisation.empty() ? "" : fmt::format("  scale, zero point {}", quantisation));
  }
  return out;
}

std::string signature_line(const TfliteSignature& s) {
  std::string text;
  for (const auto& [label, list] : {std::pair("in", &s.inputs), std::pair("out", &s.outputs)})
    for (const auto& [name, tensor] : *list)
      text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", label, name,
                          name == tensor ? "" : fmt::format(" (tensor {})", tensor));
  return fmt::format("{}: {}", s.key, text);
}

Json tensor_json(const TfliteTensor& t) {
  Json json = {{"name", t.id}, {"dtype", t.type}, {"shape", t.shape}, {"role", t.kind}};
  if (!t.name.empty()) json["name_in_file"] = t.name;
  if (!t.op.empty()) json["node"] = t.op;
  if (t.quantisation) {
    json["quantisation"] = {{"scale", t.quantisation->scale}, {"zero_point", t.quantisation->zero_point}};
    if (t.quantisation->axis) json["quantisation"]["axis"] = *t.quantisation->axis;
  }
  return json;
}

Json pairs_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json array = Json::array();
  for (const auto& [name, tensor] : pairs) array.push_back({{"name", name}, {"tensor", tensor}});
  return array;
}

}  // namespace

std::string terminal(const TfliteInspection& i, const Style& style) {
  std::string out = fmt::format("{}: TFLite model, version {}{}\n", visible(i.path), i.version,
                                i.description.empty() ? "" : ", \"" + visible(i.description) + "\"");
  out += fmt::format(
      "{} operator{} in {} graph{}, {} bytes of constants{}\n", i.plan.size(), i.plan.size() == 1 ? "" : "s",
      i.graphs.size(), i.graphs.size() == 1 ? "" : "s", with_thousands(i.constant_bytes),
      i.outside_buffers == 0 ? "" : fmt::format(", {} of them behind the flatbuffer", i.outside_buffers));
  if (i.stateful) out += "It keeps a state from call to call: feed it with --steps.\n";
  if (i.random) out += "It draws random numbers: two runs need not agree.\n";
  out += "\n" + ports(i, "input", "inputs", style) + ports(i, "output", "outputs", style);
  for (const TfliteSignature& signature : i.signatures)
    out +=
        wrap(visible(signature_line(signature)), bold(style, "signature") + "   ", std::string(12, ' '), style.width);
  std::vector<std::pair<std::string, uint64_t>> ops(i.ops.begin(), i.ops.end());
  std::stable_sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string line;
  for (const auto& [op, count] : ops) line += fmt::format("{}{} {}", line.empty() ? "" : ", ", visible(op), count);
  out += wrap(line, bold(style, "operators") + "   ", std::string(12, ' '), style.width);
  if (!style.verbose) return out;
  Table table({"tensor", "type", "shape", "role", "made by", "scale, zero point"}, std::vector<bool>(6, false));
  for (const TfliteTensor& t : i.tensors)
    table.row({t.id, t.type, t.shape, t.kind, t.op, quantisation_text(t.quantisation)});
  return out + "\n" + table.render(style);
}

Json to_json(const TfliteInspection& i) {
  Json json = {{"schema", "paritas.inspect/1"},
               {"path", i.path},
               {"kind", "TFLite model"},
               {"version", i.version},
               {"producer", i.description},
               {"node_count", i.plan.size()},
               {"ops", i.ops},
               {"file_bytes", i.file_bytes},
               {"weight_bytes", i.constant_bytes},
               {"outside_buffers", i.outside_buffers},
               {"stateful", i.stateful},
               {"random", i.random},
               {"metadata", i.metadata},
               {"plan", i.plan}};
  Json graphs = Json::array(), signatures = Json::array(), tensors = Json::array();
  for (const TfliteGraph& graph : i.graphs)
    graphs.push_back({{"name", graph.name}, {"ops", graph.ops}, {"tensors", graph.tensors}});
  for (const TfliteSignature& s : i.signatures)
    signatures.push_back(
        {{"key", s.key}, {"graph", s.graph}, {"inputs", pairs_json(s.inputs)}, {"outputs", pairs_json(s.outputs)}});
  for (const TfliteTensor& t : i.tensors) tensors.push_back(tensor_json(t));
  json["graphs"] = std::move(graphs);
  json["signatures"] = std::move(signatures);
  json["tensors"] = std::move(tensors);
  return json;
}

}  // namespace paritas
