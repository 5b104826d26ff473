#include "paritas/compare/result_json.h"
#include "paritas/project/check.h"

namespace paritas {
namespace {

Json to_json(const FrozenTensor& frozen) {
  Json json = {{"dtype", name(frozen.dtype)}, {"shape", frozen.shape}, {"tensor_sha256", frozen.tensor_sha256}};
  if (!frozen.file.empty()) {
    json["file"] = frozen.file;
    json["file_sha256"] = frozen.file_sha256;
  }
  if (frozen.image) json["image"] = paritas::to_json(*frozen.image);
  return json;
}

Json to_json(const CheckedInput& input) {
  Json json = {{"name", input.name}, {"tensors", Json::array()}};
  if (!input.fed.empty()) json["fed"] = input.fed;
  for (const FrozenTensor& frozen : input.tensors) json["tensors"].push_back(to_json(frozen));
  return json;
}

Json to_json(const TaskResult& task) {
  Json gates = Json::array();
  for (const TaskGate& gate : task.gates)
    gates.push_back({{"gate", gate.gate}, {"text", gate.text}, {"verdict", name(gate.verdict)}});
  return {{"name", task.name},
          {"verdict", name(task.verdict)},
          {"reasons", task.reasons},
          {"gates", std::move(gates)},
          {"result", std::visit([](const auto& r) { return paritas::to_json(r); }, task.result)}};
}

Json to_json(const SizeResponse& r) {
  return {{"x_doubled", json_number(r.x_doubled)},
          {"x_stayed", json_number(r.x_stayed)},
          {"y_doubled", json_number(r.y_doubled)},
          {"y_stayed", json_number(r.y_stayed)}};
}

Json to_json(const SizeProbeResult& probe) {
  Json json = {{"input", probe.input},
               {"boxes", probe.boxes},
               {"text", probe.text},
               {"verdict", name(probe.verdict)},
               {"size", probe.size},
               {"boxes_used", probe.boxes_used},
               {"first_doubled", to_json(probe.first)},
               {"second_doubled", to_json(probe.second)}};
  if (!probe.found.empty()) json["found"] = probe.found;
  if (!probe.declared.empty()) json["declared"] = probe.declared;
  return json;
}

// Figures of locate are a result of their own (paritas locate --json): here is what it found.
Json to_json(const LocateResult& located) {
  Json findings = Json::array();
  for (const Finding& finding : located.findings) findings.push_back(paritas::to_json(finding));
  Json json = {{"reasons", located.reasons}, {"ranked", Json::array()}, {"findings", std::move(findings)}};
  for (size_t i = 0; i < located.ranked.size() && i < 20; ++i) json["ranked"].push_back(located.ranked[i]);
  if (!located.first_divergence.empty()) json["first_divergence"] = located.first_divergence;
  return json;
}

Json to_json(const StepResult& step) {
  Json json = {{"type", step.type}};
  if (!step.skipped.empty()) json["skipped"] = step.skipped;
  if (step.locate) json["locate"] = to_json(*step.locate);
  if (step.size_probe) json["size_probe"] = to_json(*step.size_probe);
  return json;
}

Json to_json(const ReferenceVariants& variants) {
  Json json = {{"declared", variants.declared},
               {"other", variants.other},
               {"outputs", Json::array()},
               {"undecided", variants.undecided}};
  if (!variants.failed.empty()) json["failed"] = variants.failed;
  for (const VariantMove* move : worst_moves(variants)) {
    Json row = {{"output", move->output}, {"sample", move->sample}, {"shape_changed", move->shape_changed}};
    if (!move->shape_changed) {
      row["sqnr_db"] = json_number(move->between.sqnr_db);
      row["max_abs"] = json_number(move->between.max_abs);
      row["differing"] = move->between.differing;
    }
    if (move->device_to_declared_db) row["device_to_declared_db"] = json_number(*move->device_to_declared_db);
    if (move->device_to_other_db) row["device_to_other_db"] = json_number(*move->device_to_other_db);
    json["outputs"].push_back(std::move(row));
  }
  return json;
}

Json to_json(const AllSides& all) {
  Json json = {
      {"sides", Json::array()}, {"files", all.files}, {"findings", all.many.findings}, {"pairs", Json::array()}};
  for (size_t i = 0; i < all.sides.size(); ++i)
    json["sides"].push_back({{"name", all.sides[i].name},
                             {"subject", all.sides[i].subject},
                             {"accelerated", static_cast<bool>(all.many.accelerated[i])},
                             {"run", paritas::to_json(all.sides[i].info)}});
  size_t k = 0;
  for (size_t a = 0; a < all.sides.size(); ++a)
    for (size_t b = a + 1; b < all.sides.size(); ++b, ++k) {
      Json tasks = Json::array();
      for (const TaskResult& task : all.tasks[k]) tasks.push_back(to_json(task));
      json["pairs"].push_back({{"first", all.sides[a].name},
                               {"second", all.sides[b].name},
                               {"comparison", paritas::to_json(all.many.pairs[k])},
                               {"differences", all.many.differences[k]},
                               {"tasks", std::move(tasks)}});
    }
  return json;
}

}  // namespace

Json to_json(const CheckResult& result) {
  Json json = {{"schema", "paritas.check/1"},
               {"verdict", name(result.verdict)},
               {"reasons", result.reasons},
               {"project", result.project},
               {"project_sha256", result.project_sha256},
               {"reference", result.reference},
               {"device", result.device},
               {"inputs", Json::array()},
               {"comparison", to_json(result.comparison)},
               {"tasks", Json::array()},
               {"steps", Json::array()},
               {"probes", Json::array()},
               {"notes", result.notes},
               {"seconds", json_number(result.seconds)}};
  if (!result.gates_sha256.empty()) json["gates_sha256"] = result.gates_sha256;
  if (result.reference_variants) json["reference_variants"] = to_json(*result.reference_variants);
  if (result.all_sides) json["all_sides"] = to_json(*result.all_sides);
  for (const CheckedInput& input : result.inputs) json["inputs"].push_back(to_json(input));
  for (const TaskResult& task : result.tasks) json["tasks"].push_back(to_json(task));
  for (const StepResult& step : result.steps) json["steps"].push_back(to_json(step));
  for (const ProbeMatch& probe : result.probes)
    json["probes"].push_back({{"position", probe.position}, {"matches", probe.matches}});
  return json;
}

}  // namespace paritas
