#include "paritas/board/board_plan.h"

#include <set>

#include <fmt/format.h>

namespace paritas {
namespace {

constexpr const char* kInterpreter = "interpreter";
constexpr const char* kOtherModel = "check that this profile is one of this model";

// A description may stand behind the operator's name: "CONV_2D/...".
std::string operator_of(const ProfiledOp& row) { return row.type.substr(0, row.type.find('/')); }

}  // namespace

Result<BoardPlan> plan_of_profile(const OpProfile& profile, const tflite::Model& model, const std::string& subject) {
  const auto& ops = model.main().ops;
  BoardPlan plan;
  std::set<int> own;
  std::vector<const ProfiledOp*> delegates;
  uint64_t uncalled = 0;
  for (const ProfiledOp& row : profile.ops) {
    if (!row.node) continue;
    uncalled += row.calls != 1 ? 1 : 0;
    if (*row.node >= static_cast<int>(ops.size())) {
      delegates.push_back(&row);
      continue;
    }
    const tflite::Op& op = ops[static_cast<size_t>(*row.node)];
    if (operator_of(row) != op.name)
      return input_error(
          subject, fmt::format("node {} is {}, in {} it is {}", *row.node, operator_of(row), model.subject(), op.name),
          kOtherModel);
    own.insert(*row.node);
  }
  PlannedPart inside, outside{kInterpreter, {}};
  for (const tflite::Op& op : ops) (own.count(op.index) != 0 ? outside : inside).nodes.push_back(op.label());
  if (delegates.empty() != inside.nodes.empty())
    return input_error(
        subject,
        delegates.empty()
            ? fmt::format("has no row of {} of the {} operators, nor of a delegate", inside.nodes.size(), ops.size())
            : fmt::format("has rows of all {} operators, and {} of delegates", ops.size(), delegates.size()),
        kOtherModel);
  if (profile.subgraphs > 0)
    plan.notes.push_back(
        fmt::format("the profile has tables of {} further graphs, which were left out", profile.subgraphs));
  if (uncalled > 0) {
    plan.notes.push_back(
        fmt::format("{} of the profile's rows were not called once in every run: it does not show where "
                    "the operators ran",
                    uncalled));
    return plan;
  }
  std::set<std::string> names;
  for (const ProfiledOp* row : delegates) names.insert(operator_of(*row));
  inside.where = names.size() == 1 ? *names.begin() : "delegates";
  PlacementCounts counts;
  counts.requested = delegates.empty() ? kInterpreter : inside.where;
  counts.partitions = delegates.size();
  counts.evidence = {"benchmark_model op profile"};
  if (!inside.nodes.empty()) counts.nodes.emplace_back(inside.where, inside.nodes.size());
  if (!outside.nodes.empty()) counts.nodes.emplace_back(kInterpreter, outside.nodes.size());
  plan.placement = std::move(counts);
  if (delegates.size() > 1)
    plan.notes.push_back(fmt::format("the profile shows {} partitions of {}, and not which operators are in which",
                                     delegates.size(), inside.where));
  if (delegates.size() == 1) plan.plan.push_back(std::move(inside));
  if (!outside.nodes.empty() && delegates.size() <= 1) plan.plan.push_back(std::move(outside));
  return plan;
}

}  // namespace paritas
