#include "paritas/delivery/compare_packages.h"
#include "paritas/judge/metric_table.h"

namespace paritas {
namespace {

template <class T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}
Json optional_number(const std::optional<double>& value) { return value ? json_number(*value) : Json(); }
Json optional(const std::optional<SideInfo>& side) {
  return side ? Json{{"dtype", name(side->dtype)}, {"shape", side->shape}} : Json();
}
Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

template <class T, class Convert>
Json list(const std::vector<T>& items, const Convert& convert) {
  Json array = Json::array();
  for (const T& item : items) array.push_back(convert(item));
  return array;
}

Json package_json(const ComparedPackage& package) {
  return {{"folder", package.folder},
          {"manifest_sha256", package.manifest_sha256},
          {"tool_version", package.tool_version},
          {"created", package.created},
          {"source", {{"name", package.source_name}, {"sha256", package.source_sha256}}}};
}

Json area_json(const PackageArea& area) {
  return {{"name", area.name}, {"difference", name(area.difference)}, {"matters", area.matters}, {"text", area.text}};
}

Json file_json(const ComparedFile& file) {
  auto side = [](const std::optional<PackageFile>& f) {
    return f ? Json{{"sha256", f->sha256}, {"bytes", f->bytes}} : Json();
  };
  return {{"path", file.path},           {"role", file.role},         {"difference", name(file.difference)},
          {"before", side(file.before)}, {"after", side(file.after)}, {"matters", file.matters}};
}

Json fact_json(const PackageFact& fact) {
  return {{"area", fact.area},
          {"subject", fact.subject},
          {"difference", name(fact.difference())},
          {"before", optional(fact.before)},
          {"after", optional(fact.after)},
          {"matters", fact.matters}};
}

Json constant_json(const ComparedConstant& constant) {
  return {{"name", constant.name},
          {"after_name", text_or_null(constant.after_name)},
          {"difference", name(constant.difference)},
          {"before", optional(constant.before)},
          {"after", optional(constant.after)},
          {"metrics", constant.metrics ? to_json(*constant.metrics) : Json()},
          {"other_part", text_or_null(constant.other_part)}};
}

Json graph_json(const ComparedGraph& graph) {
  return {{"same", graph.same},
          {"nodes_before", graph.nodes_before},
          {"nodes_after", graph.nodes_after},
          {"operators", list(graph.operators,
                             [](const OperatorCount& count) -> Json {
                               return {{"op", count.op}, {"before", count.before}, {"after", count.after}};
                             })},
          {"nodes", list(graph.nodes, [](const ComparedNode& node) -> Json {
             return {{"name", node.name},
                     {"difference", name(node.difference)},
                     {"op_before", text_or_null(node.op_before)},
                     {"op_after", text_or_null(node.op_after)},
                     {"what", text_or_null(node.what)}};
           })}};
}

Json part_json(const ComparedPart& part) {
  return {{"name", part.name},
          {"difference", name(part.difference)},
          {"told_by", text_or_null(part.told_by)},
          {"before", {{"file", part.file_before}, {"sha256", part.sha256_before}}},
          {"after", {{"file", part.file_after}, {"sha256", part.sha256_after}}},
          {"constants",
           {{"same", part.same},
            {"renamed", part.renamed},
            {"rehoused", part.rehoused},
            {"changed", part.changed},
            {"added", part.added},
            {"removed", part.removed},
            {"differing", list(part.constants, constant_json)}}},
          {"graph", part.graph ? graph_json(*part.graph) : Json()}};
}

Json tensor_json(const ComparedReferenceTensor& tensor) {
  return {{"name", tensor.name},
          {"after_name", tensor.after_name},
          {"role", name(tensor.role)},
          {"samples", tensor.samples},
          {"equal", tensor.equal},
          {"other_shape", tensor.other_shape},
          {"worst", tensor.worst ? Json{{"before", tensor.worst_before},
                                        {"after", tensor.worst_after},
                                        {"metrics", to_json(*tensor.worst)}}
                                 : Json()}};
}

Json reference_json(const ComparedReference& reference) {
  return {{"samples_before", reference.before},
          {"samples_after", reference.after},
          {"shared", reference.shared},
          {"reordered", reference.reordered},
          {"only_before", reference.only_before},
          {"only_after", reference.only_after},
          {"tensors", list(reference.tensors, tensor_json)}};
}

Json figure_json(const ComparedFigure& figure) {
  return {{"scope", figure.scope},
          {"subject", figure.subject},
          {"figure", figure.figure},
          {"unit", figure.unit},
          {"before", optional_number(figure.before)},
          {"after", optional_number(figure.after)},
          {"same", figure.same()}};
}

Json verification_json(const ComparedVerification& verification) {
  auto check = [](const ComparedCheck& c) -> Json {
    return {{"id", c.id},
            {"before", optional(c.before)},
            {"after", optional(c.after)},
            {"text_before", c.text_before},
            {"text_after", c.text_after}};
  };
  return {{"before", text_or_null(verification.before)},   {"after", text_or_null(verification.after)},
          {"samples_before", verification.samples_before}, {"samples_after", verification.samples_after},
          {"checks", list(verification.checks, check)},    {"figures", list(verification.figures, figure_json)}};
}

}  // namespace

Json to_json(const PackageDiff& diff) {
  return {{"schema", "paritas.package-diff/1"},
          {"changed", diff.changed},
          {"finding", to_json(diff.finding)},
          {"before", package_json(diff.before)},
          {"after", package_json(diff.after)},
          {"areas", list(diff.areas, area_json)},
          {"files", list(diff.files, file_json)},
          {"facts", list(diff.facts, fact_json)},
          {"parts", list(diff.parts, part_json)},
          {"reference", reference_json(diff.reference)},
          {"verification", verification_json(diff.verification)},
          {"timings",
           {{"single", list(diff.timings.single, figure_json)},
            {"rounds_before", diff.timings.before},
            {"rounds_after", diff.timings.after},
            {"same_conditions", diff.timings.same_conditions},
            {"text", diff.timings.text}}},
          {"notes", diff.notes},
          {"seconds", json_number(diff.seconds)}};
}

}  // namespace paritas
