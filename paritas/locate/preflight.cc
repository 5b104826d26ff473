#include "paritas/locate/preflight.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "paritas/locate/constants.h"
#include "paritas/locate/prepare.h"
#include "paritas/runtime/inputs.h"
#include "paritas/runtime/marked_run.h"
#include "paritas/runtime/run_info.h"
#include "paritas/tensor/float_formats.h"

namespace paritas {
namespace {

constexpr double kInt8Steps = 127;  // symmetric: codes -127 to 127

using Tensors = std::unordered_map<std::string, Tensor>;

// What rounding to int8 with one scale flushes to zero.
struct Flushed {
  uint64_t count = 0;
  double lost_energy = 0;
};

Result<Flushed> flushed_by_int8(const Tensor& tensor, double step) {
  PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor));
  constexpr uint64_t kPiece = 65536;
  std::vector<double> values;
  Flushed flushed;
  double energy = 0, lost = 0;
  for (uint64_t first = 0; first < view.count(); first += kPiece) {
    values.resize(std::min(kPiece, view.count() - first));
    load_as_double(view.dtype(), view.bytes(), first, values);
    for (const double value : values) {
      if (!std::isfinite(value) || value == 0) continue;
      energy += value * value;
      if (std::nearbyint(value / step) != 0) continue;
      ++flushed.count;
      lost += value * value;
    }
  }
  flushed.lost_energy = energy > 0 ? lost / energy : 0;
  return flushed;
}

Result<uint64_t> overflows_up(const Tensor& tensor, DType format) {
  PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor));
  constexpr uint64_t kPiece = 65536;
  std::vector<double> values;
  uint64_t count = 0;
  for (uint64_t first = 0; first < view.count(); first += kPiece) {
    values.resize(std::min(kPiece, view.count() - first));
    load_as_double(view.dtype(), view.bytes(), first, values);
    for (const double value : values)
      count += value > 0 && std::isfinite(value) && !std::isfinite(round_to_format(value, format));
  }
  return count;
}

class Preflight {
 public:
  explicit Preflight(const PreflightRequest& request)
      : request_(request), start_(std::chrono::steady_clock::now()), int8_(request.format == DType::kI8) {}

  Result<PreflightResult> run() {
    if (request_.samples.empty()) return usage_error("--input", "no sample is given", "give each input a file");
    PARITAS_ASSIGN(const auto model, onnx_model::Model::load(request_.model));
    for (const NamedTensors& sample : request_.samples) PARITAS_TRY(check_inputs(model, sample));
    PARITAS_ASSIGN(ScratchFolder scratch, ScratchFolder::create(request_.scratch_root));
    PARITAS_ASSIGN(Runner reference,
                   Runner::start_in(scratch.path(), "reference", request_.reference, request_.worker));
    describe(model, reference);
    for (size_t i = 0; i < request_.samples.size(); ++i) PARITAS_TRY(sample(model, reference, i));
    finish();
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    return std::move(result_);
  }

 private:
  void describe(const onnx_model::Model& model, Runner& reference) {
    result_.model = request_.model.string();
    result_.reference = request_.reference.spec.text;
    result_.reference_info = make_run_info(model, request_.reference, reference.worker().identity());
    result_.reference_info.tool_version = request_.tool_version;
    result_.format = request_.format;
    result_.samples = request_.samples.size();
    if (int8_) {
      result_.notes.emplace_back(
          "int8 is taken as symmetric with one scale a tensor, from the largest magnitude of all samples: nothing "
          "overflows, small values are lost. Constants and what operators hold inside are not looked into: their "
          "scales are not known");
    } else {
      result_.limit = max_finite(request_.format);
      result_.min_normal = min_normal(request_.format);
    }
    for (const auto& opset : model.proto().opset_import()) opset_[opset.domain()] = opset.version();
    if (opset_.count("ai.onnx") != 0) opset_[""] = opset_["ai.onnx"];
  }

  Status sample(const onnx_model::Model& model, Runner& reference, size_t number) {
    if (request_.progress) request_.progress(fmt::format("reference, sample {}", number + 1));
    const NamedTensors& inputs = request_.samples[number];
    PARITAS_TRY(make_ready(model, reference, inputs));
    MarkedRequest marked;
    marked.model = &prepared_->folded;
    marked.inputs = inputs;
    marked.memory_budget = request_.memory_budget;
    for (const auto& node : prepared_->index.nodes())
      for (const auto& output : node.outputs)
        if (prepared_->dependence.depends(output) && !prepared_->index.is_output(output))
          marked.marks.push_back(output);
    PARITAS_ASSIGN(MarkedRun run, run_marked(reference, marked));
    if (number == 0 && !run.failed.empty())
      result_.notes.push_back(fmt::format("{} tensor{} could not be recorded, \"{}\" first: {}", run.failed.size(),
                                          run.failed.size() == 1 ? "" : "s", run.failed.begin()->first,
                                          run.failed.begin()->second));
    Tensors tensors = std::move(run.tensors);
    for (const auto& [name, tensor] : inputs) tensors.emplace(name, tensor);
    PARITAS_TRY(hold(tensors, number));
    if (!int8_) {
      PARITAS_TRY(look_inside(tensors));
      PARITAS_TRY(look_behind(tensors));
    }
    if (int8_) kept_.push_back(std::move(tensors));
    return number + 1 == request_.samples.size() && int8_ ? hold_int8() : Status();
  }

  // The model for the shapes of these inputs.
  Status make_ready(const onnx_model::Model& model, Runner& reference, const NamedTensors& inputs) {
    std::map<std::string, Shape> shapes;
    for (const auto& [name, tensor] : inputs) shapes[name] = tensor.shape;
    if (prepared_ && shapes == shapes_) return {};
    const bool first = !prepared_;
    std::vector<std::string> pinned;
    PARITAS_ASSIGN(const auto fixed, pin_to_inputs(model, inputs, request_.dims, &pinned));
    PARITAS_ASSIGN(prepared_, prepare(fixed, inputs, reference));
    shapes_ = std::move(shapes);
    constants_.clear();
    for (const auto& [name, proto] : constants_of(prepared_->folded.graph())) constants_.emplace(name, proto);
    if (!first) return {};
    result_.pinned = std::move(pinned);
    result_.notes.insert(result_.notes.end(), prepared_->notes.begin(), prepared_->notes.end());
    return int8_ ? Status() : constants();
  }

  Status constants() {
    for (const auto& [name, proto] : constants_of(prepared_->folded.graph())) {
      const auto dtype = dtype_from_onnx(proto->data_type());
      if (!dtype || !is_float(*dtype)) continue;
      PARITAS_ASSIGN(const Tensor value, prepared_->folded.tensor(*proto));
      PARITAS_ASSIGN(const PairMetrics m, figures(value));
      if (m.finite == m.count && m.storage->overflowed == 0 && m.storage->subnormal == 0) continue;
      ConstantRow row;
      row.constant = name;
      for (const int consumer : prepared_->index.consumers(name))
        row.nodes.push_back(prepared_->index.nodes()[static_cast<size_t>(consumer)].name);
      row.elements = m.count;
      row.nonfinite = m.count - m.finite;
      row.max_abs = m.reference_max_abs;
      row.overflowed = m.storage->overflowed;
      row.subnormal = m.storage->subnormal;
      row.flushed = m.storage->flushed;
      row.lost_energy = m.storage->lost_energy;
      result_.constants.push_back(std::move(row));
    }
    return {};
  }

  Result<PairMetrics> figures(const Tensor& tensor) const {
    MetricOptions options;
    options.threads = request_.threads;
    if (!int8_) options.storage_type = request_.format;
    return compare_tensors(tensor, tensor, options);
  }

  // Rows of all float tensors: inputs, then in graph order.
  Status hold(const Tensors& tensors, size_t number) {
    for (const std::string& input : prepared_->index.inputs()) PARITAS_TRY(add({}, input, tensors, number));
    for (const auto& node : prepared_->index.nodes())
      for (const std::string& output : node.outputs)
        if (prepared_->dependence.depends(output)) PARITAS_TRY(add(node, output, tensors, number));
    return {};
  }

  Status add(const onnx_model::GraphIndex::Node& node, const std::string& name, const Tensors& tensors, size_t number) {
    const auto found = tensors.find(name);
    if (found == tensors.end() || !is_float(found->second.dtype)) return {};
    const Tensor& tensor = found->second;
    PARITAS_ASSIGN(const PairMetrics m, figures(tensor));
    const auto [place, is_new] = row_of_.emplace(name, result_.tensors.size());
    if (is_new) {
      result_.tensors.emplace_back();
      RangeRow& made = result_.tensors.back();
      made.node = node.name;
      made.op = node.op;
      made.tensor = name;
      made.dtype = tensor.dtype;
      made.shape = tensor.shape;
      made.output = prepared_->index.is_output(name);
    }
    RangeRow& row = result_.tensors[place->second];
    row.elements += m.count;
    row.nonfinite += m.count - m.finite;
    row.zeros += m.reference_zeros;
    if (m.reference_max_abs > row.max_abs) {
      row.max_abs = m.reference_max_abs;
      row.max_sample = number;
    }
    if (m.storage) {
      row.overflowed += m.storage->overflowed;
      if (m.storage->overflowed > 0) {
        PARITAS_ASSIGN(const uint64_t up, overflows_up(tensor, request_.format));
        row.overflowed_up += up;
      }
      row.subnormal += m.storage->subnormal;
      row.flushed += m.storage->flushed;
      lose(row, m.storage->lost_energy, number);
    }
    return {};
  }

  static void lose(RangeRow& row, double energy, size_t number) {
    if (energy <= row.lost_energy) return;
    row.lost_energy = energy;
    row.lost_sample = number;
  }

  // The scale of a tensor follows the largest value of all samples, so this comes last.
  Status hold_int8() {
    for (size_t number = 0; number < kept_.size(); ++number)
      for (RangeRow& row : result_.tensors) {
        const auto found = kept_[number].find(row.tensor);
        if (found == kept_[number].end() || row.max_abs == 0) continue;
        PARITAS_ASSIGN(const Flushed flushed, flushed_by_int8(found->second, row.max_abs / kInt8Steps));
        row.subnormal += flushed.count;
        row.flushed += flushed.count;
        lose(row, flushed.lost_energy, number);
      }
    for (const Tensors& tensors : kept_) PARITAS_TRY(look_behind(tensors));
    return {};
  }

  // Softmax, whose masks are large on purpose.
  Status look_behind(const Tensors& tensors) {
    for (const auto& node : prepared_->index.nodes()) {
      if ((node.op != "Softmax" && node.op != "LogSoftmax") || node.inputs.empty()) continue;
      const auto operand = tensors.find(node.inputs.front());
      const auto place = row_of_.find(node.inputs.front());
      if (operand == tensors.end() || place == row_of_.end()) continue;
      const RangeRow& row = result_.tensors[place->second];
      if (int8_ ? row.max_abs == 0 : row.overflowed == 0) continue;
      const auto& proto = prepared_->folded.graph().node(node.proto_index);
      PARITAS_ASSIGN(const auto loss, softmax_loss(proto, opset_[proto.domain()], operand->second, storing(row)));
      if (loss) add_softmax(node, *loss);
    }
    return {};
  }

  std::function<double(double)> storing(const RangeRow& row) const {
    if (int8_) return [step = row.max_abs / kInt8Steps](double value) { return std::nearbyint(value / step) * step; };
    return [format = request_.format](double value) {
      const double kept = round_to_format(value, format);
      return std::isfinite(kept) ? value : kept;
    };
  }

  void add_softmax(const onnx_model::GraphIndex::Node& node, const SoftmaxLoss& loss) {
    const std::string& tensor = node.outputs.front();
    auto row = std::find_if(result_.softmax.begin(), result_.softmax.end(),
                            [&](const SoftmaxRow& r) { return r.tensor == tensor; });
    if (row == result_.softmax.end()) {
      result_.softmax.push_back({node.name, node.op, node.inputs.front(), tensor, loss});
      return;
    }
    row->loss.weighted_max_abs = std::max(row->loss.weighted_max_abs, loss.weighted_max_abs);
    row->loss.result_loss = std::max(row->loss.result_loss, loss.result_loss);
    row->loss.result_nonfinite += loss.result_nonfinite;
  }

  Status look_inside(const Tensors& tensors) {
    for (const auto& node : prepared_->index.nodes()) {
      const auto& proto = prepared_->folded.graph().node(node.proto_index);
      if (!has_hidden_values(proto) || node.outputs.empty() || !prepared_->dependence.depends(node.outputs.front()))
        continue;
      std::vector<Tensor> operands(static_cast<size_t>(proto.input_size()));
      std::vector<const Tensor*> inputs(operands.size(), nullptr);
      for (size_t i = 0; i < operands.size(); ++i) {
        PARITAS_ASSIGN(const bool known, operand(proto.input(static_cast<int>(i)), tensors, operands[i]));
        if (known) inputs[i] = &operands[i];
      }
      PARITAS_ASSIGN(const auto found, hidden_values(proto, opset_[proto.domain()], inputs, request_.format));
      for (const HiddenFigures& figures : found) add_hidden(node, figures);
    }
    return {};
  }

  // A recorded tensor or a constant of the folded model.
  Result<bool> operand(const std::string& name, const Tensors& tensors, Tensor& value) const {
    if (const auto found = tensors.find(name); found != tensors.end()) {
      value = found->second;
      return true;
    }
    const auto constant = constants_.find(name);
    if (constant == constants_.end()) return false;
    PARITAS_ASSIGN(value, prepared_->folded.tensor(*constant->second));
    return true;
  }

  void add_hidden(const onnx_model::GraphIndex::Node& node, const HiddenFigures& figures) {
    auto row = std::find_if(result_.hidden.begin(), result_.hidden.end(), [&](const HiddenRow& r) {
      return r.tensor == node.outputs.front() && r.figures.what == figures.what;
    });
    if (row == result_.hidden.end()) {
      result_.hidden.push_back({node.name, node.op, node.outputs.front(), figures});
      return;
    }
    HiddenFigures& sum = row->figures;
    sum.values += figures.values;
    sum.max_abs = std::max(sum.max_abs, figures.max_abs);
    sum.overflowed += figures.overflowed;
    sum.subnormal += figures.subnormal;
    sum.flushed += figures.flushed;
    sum.result_loss = std::max(sum.result_loss, figures.result_loss);
    sum.result_nonfinite += figures.result_nonfinite;
  }

  void finish() {
    for (RangeRow& row : result_.tensors) {
      if (int8_) {
        row.factor = row.max_abs > 0 ? 1 : 0;
        continue;
      }
      row.factor = row.max_abs / *result_.limit;
      if (row.factor > 0) row.headroom_bits = -std::log2(row.factor);
    }
    drop_known_powers();
    for (HiddenRow& row : result_.hidden) row.factor = row.figures.max_abs / *result_.limit;
    std::map<std::string, std::vector<std::string>> inputs_of;
    for (const auto& node : prepared_->index.nodes())
      for (const std::string& output : node.outputs) inputs_of[output] = node.inputs;
    judge_ranges(result_, inputs_of);
  }

  // x^n is the result itself; it says more only where the reference's own type could not hold it.
  void drop_known_powers() {
    std::erase_if(result_.hidden, [&](const HiddenRow& row) {
      const auto own = row_of_.find(row.tensor);
      return row.figures.what == "x^n" && own != row_of_.end() && result_.tensors[own->second].nonfinite == 0;
    });
  }

  const PreflightRequest& request_;
  std::chrono::steady_clock::time_point start_;
  bool int8_;
  std::map<std::string, int64_t> opset_;  // domain -> version
  std::optional<Prepared> prepared_;
  std::map<std::string, Shape> shapes_;                                    // that it was made for
  std::unordered_map<std::string, const ::onnx::TensorProto*> constants_;  // of `prepared_`
  std::unordered_map<std::string, size_t> row_of_;
  std::vector<Tensors> kept_;  // int8 only: every sample, in scratch files
  PreflightResult result_;
};

}  // namespace

Result<DType> parse_range_format(const std::string& text) {
  if (text == "fp16" || text == "float16") return DType::kF16;
  if (text == "bf16" || text == "bfloat16") return DType::kBF16;
  if (text == "int8") return DType::kI8;
  return usage_error("--format", fmt::format("\"{}\" is no format whose range is known here", text),
                     "use fp16, bf16 or int8");
}

Result<PreflightResult> preflight(const PreflightRequest& request) { return Preflight(request).run(); }

}  // namespace paritas
