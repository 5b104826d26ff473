#include "paritas/judge/gates_write.h"

namespace paritas {
namespace {

Json to_json(const Condition& condition) {
  Json json = {{"metric", condition.metric}, {"op", name(condition.op)}, {"value", json_number(condition.value)}};
  if (condition.unit != GateUnit::kAbsolute) json["unit"] = name(condition.unit);
  if (condition.atol) json["atol"] = json_number(*condition.atol);
  if (condition.rtol) json["rtol"] = json_number(*condition.rtol);
  return json;
}

Json to_json(const Gate& gate) {
  Json json = Json::object();
  for (const auto& [key, value] : {std::pair("tensor", &gate.tensor), std::pair("role", &gate.role),
                                   std::pair("type", &gate.type), std::pair("task", &gate.task)})
    if (!value->empty()) json[key] = *value;
  if (gate.any.size() == 1 && gate.any.front().size() == 1) {
    json.update(to_json(gate.any.front().front()));
  } else {
    Json any = Json::array();
    for (const auto& alternative : gate.any) {
      Json all = Json::array();
      for (const Condition& condition : alternative) all.push_back(to_json(condition));
      any.push_back({{"all", std::move(all)}});
    }
    json["any"] = std::move(any);
  }
  if (gate.optional) json["optional"] = true;
  return json;
}

const char* word(NonfinitePolicy policy) {
  switch (policy) {
    case NonfinitePolicy::kForbid:
      return "forbid";
    case NonfinitePolicy::kEqual:
      return "equal";
    case NonfinitePolicy::kSameInf:
      break;
  }
  return "same-inf";
}

}  // namespace

Json gates_to_json(const GateSet& gates) {
  Json list = Json::array();
  for (const Gate& gate : gates.gates) list.push_back(to_json(gate));
  return {{"nonfinite", word(gates.nonfinite)},
          {"extra_outputs", gates.allow_extra_outputs ? "allow" : "forbid"},
          {"dtypes", gates.exact_dtypes ? "exact" : "may-differ"},
          {"gate", std::move(list)}};
}

}  // namespace paritas
