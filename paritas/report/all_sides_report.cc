#include "paritas/report/all_sides_report.h"

#include <fmt/format.h>

#include "paritas/report/reports.h"
#include "paritas/report/visible.h"

namespace paritas {
namespace {

std::string placement_text(const RunInfo& info) {
  if (!info.placement || info.placement->total() == 0) return "not known";
  std::string text;
  for (const auto& [where, nodes] : info.placement->nodes)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", nodes, where);
  if (info.placement->partitions > 0)
    text += fmt::format(" in {} partition{}", info.placement->partitions, info.placement->partitions == 1 ? "" : "s");
  return text;
}

std::string sides_table(const AllSides& all, const Style& style) {
  Table table({"side", "target", "operators", "runtime", "library"}, std::vector<bool>(5, false));
  for (const CheckedSide& side : all.sides)
    table.row({side.name, side.subject, placement_text(side.info), side.info.runtime.version,
               side.info.runtime.sha256_before.substr(0, 12)});
  return table.render(style);
}

std::string tensor_cell(const TensorComparison& t) {
  if (!t.compared()) return std::string(name(t.status));
  const PairMetrics& m = *t.metrics;
  if (m.differing == 0) return "equal";
  const std::string of = fmt::format("{} of {}", with_thousands(m.differing), with_thousands(m.count));
  if (m.codes) return fmt::format("{}, step {} max, {} mean", of, m.codes->max_step, number(m.codes->mean_step, 3));
  return fmt::format("{}, {} max", of, number(m.max_abs, 3));
}

std::string yes_no(bool yes) { return yes ? "same" : "other"; }

// Row by row: what people read the answer from.
void task_cells(const TaskResult& task, const std::string& sample, std::vector<std::string>& cells) {
  const auto* classes = std::get_if<ClassificationResult>(&task.result);
  if (classes == nullptr) return;
  for (const ClassificationRow& row : classes->rows) {
    if (row.sample != sample || row.row != 0) continue;
    const bool judged = row.reference.fault == RowFault::kNone && row.device.fault == RowFault::kNone;
    cells = judged ? std::vector<std::string>{number(row.max_probability_difference, 3),
                                              row.top1 == Agreement::kUndecided ? "tied"
                                                                                : yes_no(row.top1 == Agreement::kSame),
                                              yes_no(row.same_order)}
                   : std::vector<std::string>{"no answer", "-", "-"};
  }
}

std::string label(const AllSides& all, const std::string& sample) {
  const auto file = all.files.find(sample);
  return file == all.files.end() ? sample : file->second;
}

std::string top_text(const ClassificationSide& side, const std::vector<std::string>& names) {
  if (side.fault != RowFault::kNone) return "no answer";
  std::string text;
  for (const ClassProbability& top : side.top) {
    const auto index = static_cast<size_t>(top.class_index);
    text += fmt::format("{}{} {:.4f}", text.empty() ? "" : ", ",
                        index < names.size() ? names[index] : std::to_string(top.class_index), top.probability);
  }
  return text;
}

// What each side answers: of the reference from its first pair, of the others from theirs with the reference.
std::string answers_table(const AllSides& all, const Style& style) {
  Table table({"sample", "side", "first classes and probabilities"}, std::vector<bool>(3, false));
  for (size_t t = 0; t < all.tasks.front().size(); ++t) {
    const auto* first = std::get_if<ClassificationResult>(&all.tasks.front()[t].result);
    if (first == nullptr) continue;
    for (size_t row = 0; row < first->rows.size(); ++row)
      for (size_t side = 0; side < all.sides.size(); ++side) {
        const auto& classes = std::get<ClassificationResult>(all.tasks[side == 0 ? 0 : side - 1][t].result);
        if (row >= classes.rows.size()) continue;
        const ClassificationRow& found = classes.rows[row];
        table.row({side == 0 ? label(all, found.sample) : "", all.sides[side].name,
                   top_text(side == 0 ? found.reference : found.device, classes.spec.class_names)});
      }
  }
  return table.empty() ? "" : table.render(style) + "\n";
}

std::string pairs_table(const AllSides& all, const Style& style) {
  Table table({"sample", "output", "pair", "differ", "probability", "first", "order"},
              {false, false, false, false, true, false, false});
  const CompareResult& first = all.many.pairs.front();
  for (const TensorComparison& tensor : first.tensors) {
    if (tensor.role != Role::kOutput) continue;
    size_t k = 0;
    for (size_t a = 0; a < all.sides.size(); ++a)
      for (size_t b = a + 1; b < all.sides.size(); ++b, ++k) {
        const TensorComparison* found = nullptr;
        for (const TensorComparison& other : all.many.pairs[k].tensors)
          if (other.name == tensor.name && other.sample == tensor.sample) found = &other;
        std::vector<std::string> answer(3, "-");
        for (const TaskResult& task : all.tasks[k])
          if (const auto* classes = std::get_if<ClassificationResult>(&task.result);
              classes != nullptr && classes->spec.output == tensor.name)
            task_cells(task, tensor.sample, answer);
        table.row({k == 0 ? label(all, tensor.sample) : "", k == 0 ? tensor.name : "",
                   fmt::format("{} / {}", all.sides[a].name, all.sides[b].name),
                   found == nullptr ? "-" : tensor_cell(*found), answer[0], answer[1], answer[2]});
      }
  }
  return table.render(style);
}

}  // namespace

std::string all_sides_text(const AllSides& all, const Style& style) {
  std::string out = sides_table(all, style) + "\n" + answers_table(all, style) + pairs_table(all, style) + "\n";
  for (const std::string& finding : all.many.findings) out += wrap(finding, "", "  ", style.width);
  size_t k = 0;
  for (size_t a = 0; a < all.sides.size(); ++a)
    for (size_t b = a + 1; b < all.sides.size(); ++b, ++k) {
      if (all.many.differences[k].empty()) continue;
      std::string list;
      for (const std::string& d : all.many.differences[k]) list += (list.empty() ? "" : "; ") + d;
      out += wrap(fmt::format("{} / {} also differ in {}", all.sides[a].name, all.sides[b].name, list), "", "  ",
                  style.width);
    }
  return out + "\n";
}

}  // namespace paritas
