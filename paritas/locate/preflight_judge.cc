// From figures to findings: what a range that does not fit leads to.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "paritas/judge/catalogue_range.h"
#include "paritas/locate/preflight.h"

namespace paritas {
namespace {

using InputsOf = std::map<std::string, std::vector<std::string>>;

// int8: the scale is called ruined where values without weight are more than so many times as large as those with it:
// two bits of the eight are lost then.
constexpr double kRuined = 4;

enum class Loss { kOverflow, kEnergy };

class Judging {
 public:
  Judging(PreflightResult& result, const InputsOf& inputs_of) : result_(result), inputs_of_(inputs_of) {}

  void run() {
    find_masks();
    tensors(Loss::kOverflow);
    tensors(Loss::kEnergy);
    hidden();
    made_infinite();
    ruined_scales();
    std::stable_sort(placed_.begin(), placed_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [place, finding] : placed_) result_.findings.push_back(std::move(finding));
    notes();
  }

 private:
  static bool has(const RangeRow& row, Loss loss) {
    return loss == Loss::kOverflow ? row.overflowed > 0 : row.lost_energy > kMaxLostEnergy;
  }

  // Tensors whose values overflow downwards only, and are read by nothing but a Softmax that gives them no weight: at
  // once, or behind nodes that pass them on. Consumers come later, so the last tensor is looked at first.
  void find_masks() {
    if (std::none_of(result_.tensors.begin(), result_.tensors.end(),
                     [](const auto& row) { return row.overflowed > 0; }))
      return;
    std::unordered_map<std::string, const RangeRow*> rows;
    for (const RangeRow& row : result_.tensors) rows.emplace(row.tensor, &row);
    std::unordered_map<std::string, std::vector<const RangeRow*>> consumers;  // nullptr: a result that has no row
    for (const auto& [result, inputs] : inputs_of_)
      for (const std::string& input : inputs) {
        const auto row = rows.find(result);
        consumers[input].push_back(row == rows.end() ? nullptr : row->second);
      }
    for (size_t i = result_.tensors.size(); i-- > 0;) {
      const RangeRow& row = result_.tensors[i];
      const auto& readers = consumers[row.tensor];
      if (row.overflowed > 0 && row.overflowed_up == 0 && !row.output && !readers.empty() &&
          std::all_of(readers.begin(), readers.end(),
                      [&](const RangeRow* reader) { return reader != nullptr && may_be_masked(row, *reader); }))
        masks_.insert(row.tensor);
    }
  }

  bool may_be_masked(const RangeRow& mask, const RangeRow& reader) const {
    if (const SoftmaxRow* softmax = softmax_of(reader.tensor); softmax != nullptr && softmax->operand == mask.tensor)
      return softmax->loss.result_nonfinite == 0 && softmax->loss.result_loss <= kMaxLostEnergy;
    static const std::unordered_set<std::string> kSelecting = {"Where", "Gather", "Slice"};
    static const std::unordered_set<std::string> kPassing = {"Add",      "Reshape",   "Unsqueeze", "Squeeze", "Expand",
                                                             "Identity", "Transpose", "Cast",      "Flatten", "Concat"};
    if (masks_.count(reader.tensor) != 0) return kSelecting.count(reader.op) + kPassing.count(reader.op) > 0;
    return kSelecting.count(reader.op) != 0 && reader.overflowed == 0;  // others were selected
  }

  const SoftmaxRow* softmax_of(const std::string& result) const {
    const auto row = std::find_if(result_.softmax.begin(), result_.softmax.end(),
                                  [&](const SoftmaxRow& r) { return r.tensor == result; });
    return row == result_.softmax.end() ? nullptr : &*row;
  }

  // int8: the scale of a tensor follows values to which the Softmax behind it gives no weight, and the others fall into
  // so few steps that the result suffers.
  void ruined_scales() {
    if (result_.format != DType::kI8) return;
    for (const SoftmaxRow& softmax : result_.softmax) {
      const auto row = std::find_if(result_.tensors.begin(), result_.tensors.end(),
                                    [&](const RangeRow& r) { return r.tensor == softmax.operand; });
      if (row == result_.tensors.end() || softmax.loss.result_loss <= kMaxLostEnergy ||
          softmax.loss.weighted_max_abs * kRuined >= row->max_abs)
        continue;
      row->violates = true;
      catalogue::PreflightFacts f = facts_of(*row, Loss::kEnergy);
      f.softmax = softmax.node;
      f.weighted_max_abs = softmax.loss.weighted_max_abs;
      f.lost_energy = softmax.loss.result_loss;
      placed_.emplace_back(static_cast<size_t>(row - result_.tensors.begin()), preflight_ruined_scale(f));
    }
  }

  // What a node makes from a tensor that violates already is no finding of its own: it joins the first one's.
  void tensors(Loss loss) {
    std::unordered_map<std::string, size_t> root_of;  // tensor -> index into `facts`
    std::vector<std::pair<size_t, catalogue::PreflightFacts>> facts;
    for (size_t i = 0; i < result_.tensors.size(); ++i) {
      RangeRow& row = result_.tensors[i];
      if (masks_.count(row.tensor) != 0 || !has(row, loss) || (loss == Loss::kEnergy && row.overflowed > 0)) continue;
      row.violates = true;
      const auto inputs = inputs_of_.find(row.tensor);
      size_t root = facts.size();
      if (inputs != inputs_of_.end())
        for (const std::string& input : inputs->second)
          if (const auto known = root_of.find(input); known != root_of.end()) root = std::min(root, known->second);
      root_of[row.tensor] = root;
      if (root < facts.size())
        facts[root].second.behind.push_back(row.node);
      else
        facts.emplace_back(i, facts_of(row, loss));
    }
    for (const auto& [place, f] : facts)
      placed_.emplace_back(place, loss == Loss::kOverflow ? preflight_overflow(f) : preflight_lost_energy(f));
  }

  catalogue::PreflightFacts facts_of(const RangeRow& row, Loss loss) const {
    catalogue::PreflightFacts f = common();
    f.node = row.node;
    f.op = row.op;
    f.tensor = row.tensor;
    f.max_abs = row.max_abs;
    f.factor = row.factor;
    f.elements = row.elements;
    f.overflowed = row.overflowed;
    f.flushed = row.flushed;
    for (const SoftmaxRow& softmax : result_.softmax)
      if (loss == Loss::kOverflow && softmax.operand == row.tensor && softmax.loss.result_nonfinite > 0) {
        f.softmax = softmax.node;
        f.result_nonfinite = softmax.loss.result_nonfinite;
      }
    f.lost_energy = row.lost_energy;
    f.sample = loss == Loss::kOverflow ? row.max_sample : row.lost_sample;
    return f;
  }

  catalogue::PreflightFacts common() const {
    catalogue::PreflightFacts f;
    f.format = std::string(name(result_.format));
    f.limit = result_.limit.value_or(0);
    f.samples = result_.samples;
    return f;
  }

  bool input_violates(const std::string& tensor) const {
    const auto inputs = inputs_of_.find(tensor);
    if (inputs == inputs_of_.end()) return false;
    return std::any_of(result_.tensors.begin(), result_.tensors.end(), [&](const RangeRow& row) {
      return row.violates &&
             std::find(inputs->second.begin(), inputs->second.end(), row.tensor) != inputs->second.end();
    });
  }

  void hidden() {
    for (HiddenRow& row : result_.hidden) {
      const HiddenFigures& h = row.figures;
      const bool out_of_range = h.overflowed > 0 || h.subnormal > 0;
      const bool matters = h.result_nonfinite > 0 || h.result_loss > kMaxLostEnergy;
      const auto own = std::find_if(result_.tensors.begin(), result_.tensors.end(),
                                    [&](const RangeRow& r) { return r.tensor == row.tensor; });
      const bool known = (own != result_.tensors.end() && own->violates) || input_violates(row.tensor);
      row.violates = out_of_range && matters && !known;
      if (!row.violates) continue;
      catalogue::PreflightFacts f = common();
      f.node = row.node;
      f.op = row.op;
      f.tensor = row.tensor;
      f.hidden = h.what;
      f.max_abs = h.max_abs;
      f.factor = row.factor;
      f.elements = h.values;
      f.overflowed = h.overflowed;
      f.flushed = h.flushed;
      f.lost_energy = h.result_loss;
      f.result_nonfinite = h.result_nonfinite;
      placed_.emplace_back(static_cast<size_t>(own - result_.tensors.begin()), preflight_hidden(f));
    }
  }

  const RangeRow* row_of(const std::string& tensor) const {
    const auto row = std::find_if(result_.tensors.begin(), result_.tensors.end(),
                                  [&](const RangeRow& r) { return r.tensor == tensor; });
    return row == result_.tensors.end() ? nullptr : &*row;
  }

  // Finite results that become NaN or infinite although nothing that a reference run shows overflows: zero times a
  // constant that is infinite in the format, and divisors that become zero in it.
  void made_infinite() {
    for (size_t i = 0; i < result_.tensors.size(); ++i) {
      RangeRow& row = result_.tensors[i];
      const auto found = inputs_of_.find(row.tensor);
      if (found == inputs_of_.end()) continue;
      const auto& inputs = found->second;
      catalogue::PreflightFacts f = facts_of(row, Loss::kOverflow);
      if (row.op == "Mul" && inputs.size() == 2) {
        const std::string* constant = whole_overflow(inputs[0]) ? &inputs[0] : &inputs[1];
        const RangeRow* other = row_of(inputs[constant == &inputs[0] ? 1 : 0]);
        if (!whole_overflow(*constant) || other == nullptr || other->zeros == 0) continue;
        f.operand = *constant;
        f.result_nonfinite = other->zeros;
        placed_.emplace_back(i, preflight_zero_times_infinity(f));
      } else if (const ConstantRow* weights = infinite_weights(row.op, inputs)) {
        f.operand = weights->constant;
        f.overflowed = weights->overflowed;
        placed_.emplace_back(i, preflight_infinite_weights(f));
      } else if (const size_t divisor = row.op == "Div" ? 1 : 0;
                 (row.op == "Div" || row.op == "Log" || row.op == "Reciprocal") && divisor < inputs.size()) {
        const RangeRow* operand = row_of(inputs[divisor]);
        if (operand == nullptr || operand->flushed == 0 || result_.format == DType::kI8) continue;
        f.operand = operand->tensor;
        f.operand_node = operand->node;
        f.result_nonfinite = operand->flushed;
        placed_.emplace_back(i, preflight_divides_by_zero(f));
      } else {
        continue;
      }
      row.violates = true;
    }
  }

  // Weights that every sum of products meets.
  const ConstantRow* infinite_weights(const std::string& op, const std::vector<std::string>& inputs) const {
    if (op != "MatMul" && op != "Gemm" && op != "Conv" && op != "ConvTranspose") return nullptr;
    for (const ConstantRow& row : result_.constants)
      if (row.overflowed > 0 && std::find(inputs.begin(), inputs.end(), row.constant) != inputs.end()) return &row;
    return nullptr;
  }

  bool whole_overflow(const std::string& constant) const {
    return std::any_of(result_.constants.begin(), result_.constants.end(), [&](const ConstantRow& row) {
      return row.constant == constant && row.elements > 0 && row.overflowed == row.elements;
    });
  }

  void notes() {
    std::vector<std::string> tiny, tiny_constants, harmless, nonfinite, constants;
    uint64_t infinite_constants = 0;
    double worst_energy = 0, worst_loss = 0, worst_constant = 0;
    for (const RangeRow& row : result_.tensors) {
      const std::string& called = row.node.empty() ? row.tensor : row.node;
      if (row.nonfinite > 0) nonfinite.push_back(called);
      if (row.violates || row.subnormal == 0) continue;
      tiny.push_back(called);
      worst_energy = std::max(worst_energy, row.lost_energy);
    }
    for (const HiddenRow& row : result_.hidden) {
      if (row.violates || row.figures.overflowed == 0 || row.figures.what == "x^n") continue;
      harmless.push_back(row.figures.what + " in " + row.node);
      worst_loss = std::max(worst_loss, row.figures.result_loss);
    }
    for (const ConstantRow& row : result_.constants) {
      if (row.overflowed == 0 && row.nonfinite == 0) {
        tiny_constants.push_back(row.constant);
        worst_constant = std::max(worst_constant, row.lost_energy);
        continue;
      }
      constants.push_back(row.constant);
      infinite_constants += row.nonfinite > 0;
    }
    const catalogue::PreflightFacts f = common();
    std::vector<std::string> masks;
    double worst_mask = 0;
    for (const RangeRow& row : result_.tensors)
      if (masks_.count(row.tensor) != 0) masks.push_back(row.node.empty() ? row.tensor : row.node);
    for (const SoftmaxRow& softmax : result_.softmax)
      if (masks_.count(softmax.operand) != 0) worst_mask = std::max(worst_mask, softmax.loss.result_loss);
    if (!masks.empty()) result_.findings.push_back(preflight_masks(f, masks, worst_mask));
    if (!constants.empty()) result_.findings.push_back(preflight_constants(f, constants, infinite_constants));
    if (!tiny_constants.empty())
      result_.findings.push_back(preflight_tiny_constants(f, tiny_constants, worst_constant));
    if (!tiny.empty()) result_.findings.push_back(preflight_tiny(f, tiny, worst_energy));
    if (!harmless.empty()) result_.findings.push_back(preflight_hidden_harmless(f, harmless, worst_loss));
    if (!nonfinite.empty()) result_.findings.push_back(preflight_nonfinite(f, nonfinite));
  }

  PreflightResult& result_;
  const InputsOf& inputs_of_;
  std::unordered_set<std::string> masks_;           // tensors that overflow without harm
  std::vector<std::pair<size_t, Finding>> placed_;  // by index into tensors
};

}  // namespace

void judge_ranges(PreflightResult& result, const InputsOf& inputs_of) { Judging(result, inputs_of).run(); }

}  // namespace paritas
