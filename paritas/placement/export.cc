#include "paritas/placement/export.h"

#include <map>

#include <fmt/format.h>

#include "paritas/onnx/graph_index.h"

namespace paritas {
namespace {

// Colours that stay apart for colour-blind eyes (Okabe and Ito).
const char* colour_of(Place place) {
  switch (place) {
    case Place::kDevice:
      return "#009E73";
    case Place::kVendorCpu:
      return "#E69F00";
    case Place::kPlannedCpu:
      return "#56B4E9";
    case Place::kFallbackCpu:
      return "#D55E00";
    case Place::kElsewhere:
      return "#CC79A7";
    case Place::kConstant:
      return "#DDDDDD";
    case Place::kUnknown:
      break;
  }
  return "#FFFFFF";
}

struct Loaded {
  onnx_model::Model model;
  onnx_model::GraphIndex index;
};

// Node N of the index is node N of the placement, or the file is no longer what was placed.
Result<Loaded> load(const Path& path, const PlacementAudit& placement) {
  PARITAS_ASSIGN(auto model, onnx_model::Model::load(path));
  PARITAS_ASSIGN(auto index, onnx_model::GraphIndex::build(model));
  bool same = index.nodes().size() == placement.nodes.size();
  for (size_t n = 0; same && n < placement.nodes.size(); ++n) same = index.nodes()[n].name == placement.nodes[n].name;
  if (!same) return input_error(path.string(), "has changed since its placement was taken", "run it again");
  return Loaded{std::move(model), std::move(index)};
}

std::string evidence_of(const NodePlacement& node) {
  if (node.inferred) return "what surrounds it";
  std::string text;
  for (EvidenceSource source : node.evidence) text += (text.empty() ? "" : ", ") + std::string(name(source));
  return text;
}

void add_metadata(::onnx::NodeProto& node, const char* key, const std::string& value) {
  if (value.empty()) return;
  auto* entry = node.add_metadata_props();
  entry->set_key(key);
  entry->set_value(value);
}

}  // namespace

Result<Json> node_data(const Path& model, const PlacementAudit& placement) {
  PARITAS_ASSIGN(const Loaded loaded, load(model, placement));
  std::map<std::string, int> uses;
  for (const auto& node : loaded.model.graph().node()) ++uses[node.name()];
  Json results = Json::object();
  for (size_t n = 0; n < placement.nodes.size(); ++n) {
    const auto& indexed = loaded.index.nodes()[n];
    const std::string& own = loaded.model.graph().node(indexed.proto_index).name();
    const bool named = !own.empty() && uses[own] == 1;
    if (!named && indexed.outputs.empty()) continue;
    const NodePlacement& node = placement.nodes[n];
    results[named ? own : indexed.outputs.front()] = {{"value", name(node.place)}, {"bgColor", colour_of(node.place)}};
  }
  return Json{{"name", "paritas placement"}, {"results", std::move(results)}};
}

Status write_annotated(const Path& path, const PlacementAudit& placement, const Path& folder, bool overwrite) {
  PARITAS_ASSIGN(Loaded loaded, load(path, placement));
  for (size_t n = 0; n < placement.nodes.size(); ++n) {
    const NodePlacement& node = placement.nodes[n];
    auto& proto = *loaded.model.graph().mutable_node(loaded.index.nodes()[n].proto_index);
    add_metadata(proto, "paritas.place", std::string(name(node.place)));
    add_metadata(proto, "paritas.provider", node.provider);
    add_metadata(proto, "paritas.partition", node.partition);
    add_metadata(proto, "paritas.evidence", evidence_of(node));
  }
  PARITAS_ASSIGN(AtomicFolder building, AtomicFolder::create(folder, overwrite, "model.onnx"));
  PARITAS_TRY(loaded.model.save(building.building()));
  return building.commit();
}

}  // namespace paritas
