#include "paritas/locate/consistency.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>

#include <fmt/format.h>

#include "paritas/compare/compare.h"
#include "paritas/locate/consistency_precision.h"
#include "paritas/locate/consistency_rows.h"
#include "paritas/placement/node_table.h"
#include "paritas/recording/named_tensors.h"
#include "paritas/runtime/inputs.h"
#include "paritas/runtime/qdq_variants.h"
#include "paritas/runtime/run_info.h"

namespace paritas {
namespace {

constexpr int kRepeats = 3;
// Rows of a batch that differ by more than this on the reference (NMSE) are taken to mean different things: a sequence,
// not a batch. Rounding of float32 kernels that treat rows differently stays below 1e-9.
constexpr double kRowsAreNoBatch = 1e-8;

// NaN and infinities that come and go are worse than any number.
double badness(const NoiseFigure& figure) {
  if (figure.shape_changed || figure.metrics.nonfinite.device_only > 0 || figure.metrics.nonfinite.nan_other > 0)
    return INFINITY;
  return std::isnan(figure.metrics.nmse) ? 0 : figure.metrics.nmse;
}

bool worse(const NoiseFigure& a, const NoiseFigure& b) {
  if (badness(a) != badness(b)) return badness(a) > badness(b);
  return a.metrics.differing > b.metrics.differing;
}

NoiseCheck not_applicable(NoiseSource source, std::string reason) {
  NoiseCheck check;
  check.source = source;
  check.status = NoiseCheck::Status::kNotApplicable;
  check.reason = std::move(reason);
  return check;
}

NoiseCheck failed(NoiseSource source, const Error& error) {
  NoiseCheck check;
  check.source = source;
  check.status = NoiseCheck::Status::kFailed;
  check.reason = error.cause;
  return check;
}

class Measuring {
 public:
  Measuring(const ConsistencyRequest& request, Runner& reference, Runner& device)
      : request_(request), reference_(reference), device_(device) {}

  Result<Consistency> run() {
    const auto start = std::chrono::steady_clock::now();
    if (request_.optimisation_only) return run_optimisation_only();
    PARITAS_ASSIGN(rows_, equal_rows(*request_.given, request_.inputs));
    // Both sides at once; each only fills what is its own.
    auto device = std::async(std::launch::async, [this] { return run_device(); });
    const Status reference = run_reference();
    const Status on_device = device.get();
    PARITAS_TRY(reference);
    PARITAS_TRY(on_device);
    // Rows that mean different things on the reference are no batch on the device either.
    if (reference_rows_.status == NoiseCheck::Status::kNotApplicable &&
        device_rows_.status == NoiseCheck::Status::kMeasured)
      device_rows_ = not_applicable(NoiseSource::kDeviceRows, reference_rows_.reason);
    Consistency result;
    result.checks = {std::move(repeats_), std::move(rebuild_), std::move(device_rows_), std::move(reference_rows_),
                     std::move(optimisation_)};
    result.reference_precision = declared_precision(*request_.given);
    result.floors = noise_floors(result.checks);
    result.device_sessions = device_sessions_;
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  }

 private:
  Result<Consistency> run_optimisation_only() {
    const auto start = std::chrono::steady_clock::now();
    PARITAS_TRY(run_optimisation());
    Consistency result;
    for (const NoiseSource source : {NoiseSource::kDeviceRepeats, NoiseSource::kDeviceRebuild, NoiseSource::kDeviceRows,
                                     NoiseSource::kReferenceRows})
      result.checks.push_back(not_applicable(source, "not asked for (--consistency)"));
    result.checks.push_back(std::move(optimisation_));
    result.reference_precision = declared_precision(*request_.given);
    result.floors = noise_floors(result.checks);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  }

  Result<NoiseFigure> compare(const std::string& output, const Tensor& first, const Tensor& other) const {
    MetricOptions options;
    options.threads = request_.threads;
    if (is_float(first.dtype)) options.storage_type = request_.storage;
    PARITAS_TRY(request_.gates->configure(output, options));
    PARITAS_ASSIGN(TensorComparison pair, compare_pair(output, Role::kOutput, first, other, options));
    NoiseFigure figure;
    figure.output = output;
    figure.shape_changed = !pair.metrics.has_value();
    if (pair.metrics) figure.metrics = std::move(*pair.metrics);
    return figure;
  }

  // Outputs of `others` against the first run's: of each the worst.
  Status take(NoiseCheck& check, const NamedTensors& first, const std::vector<const NamedTensors*>& others) const {
    check.runs = others.size();
    for (const auto& [output, tensor] : first) {
      std::optional<NoiseFigure> worst;
      for (const NamedTensors* other : others) {
        const Tensor* again = find_tensor(*other, output);
        if (again == nullptr) continue;
        PARITAS_ASSIGN(NoiseFigure figure, compare(output, tensor, *again));
        if (!worst || worse(figure, *worst)) worst = std::move(figure);
      }
      if (worst) check.outputs.push_back(std::move(*worst));
    }
    return {};
  }

  Status run_device() {
    device_rows_ = not_applicable(NoiseSource::kDeviceRows, rows_.not_applicable);
    auto session = open_on_device(*request_.pinned);
    if (!session) {
      repeats_ = failed(NoiseSource::kDeviceRepeats, session.error());
      rebuild_ = failed(NoiseSource::kDeviceRebuild, session.error());
    } else {
      PARITAS_TRY(repeat(*session));
    }
    if (!rows_.not_applicable.empty()) return {};
    return run_rows(NoiseSource::kDeviceRows, device_rows_,
                    [this](const onnx_model::Model& model) { return open_on_device(model); });
  }

  // A session that the device left to the CPU says nothing about the device.
  Result<Session> open_on_device(const onnx_model::Model& model) {
    ++device_sessions_;
    PARITAS_ASSIGN(Session session, device_.open(model, /*op_trace=*/true));
    PARITAS_ASSIGN(const auto index, onnx_model::GraphIndex::build(model));
    const auto table =
        node_table(device_.target().provider, session.info().assignment, session.info().partitions, index);
    PARITAS_TRY(require_device_took_part(device_.target(), table.counts));
    return session;
  }

  Status repeat(Session& session) {
    std::vector<NamedTensors> runs;
    for (int i = 0; i < kRepeats; ++i) {
      auto reply = session.run(request_.inputs);
      if (!reply) {
        repeats_ = failed(NoiseSource::kDeviceRepeats, reply.error());
        if (runs.empty()) rebuild_ = failed(NoiseSource::kDeviceRebuild, reply.error());
        break;
      }
      runs.push_back(std::move(reply->outputs));
    }
    if (runs.size() == kRepeats) {
      repeats_.source = NoiseSource::kDeviceRepeats;
      repeats_.setting = fmt::format("{} runs of one session", kRepeats);
      PARITAS_TRY(take(repeats_, runs[0], {&runs[1], &runs[2]}));
    }
    if (runs.empty()) return {};
    rebuild_.source = NoiseSource::kDeviceRebuild;
    rebuild_.setting = "another session, in another process";
    return take(rebuild_, *request_.device_outputs, {&runs.front()});
  }

  Status run_reference() {
    reference_rows_ = not_applicable(NoiseSource::kReferenceRows, rows_.not_applicable);
    PARITAS_TRY(run_optimisation());
    if (!rows_.not_applicable.empty()) return {};
    PARITAS_TRY(run_rows(NoiseSource::kReferenceRows, reference_rows_,
                         [this](const onnx_model::Model& model) { return reference_.open(model); }));
    for (const NoiseFigure& figure : reference_rows_.outputs)
      if (badness(figure) > kRowsAreNoBatch) {
        reference_rows_ = not_applicable(
            NoiseSource::kReferenceRows,
            fmt::format("rows that are fed alike differ on the reference by an NMSE of {:.2g} in \"{}\": the leading "
                        "dimension is no batch",
                        figure.metrics.nmse, figure.output));
        break;
      }
    return {};
  }

  // In a worker of its own: the target differs.
  Status run_optimisation() {
    Target other = request_.reference;
    other.optimisation = other.optimisation == "none" ? "all" : "none";
    const bool pairs = quant_qdq_setting(request_.reference) && holds_qdq_pairs(*request_.given);
    if (pairs) other = other_qdq_variant(request_.reference);
    optimisation_.source = NoiseSource::kReferenceOptimisation;
    optimisation_.setting = fmt::format("{} against {}", request_.reference.optimisation, other.optimisation);
    if (pairs)
      optimisation_.setting =
          fmt::format("({}) against ({})", qdq_variant_text(request_.reference), qdq_variant_text(other));
    auto outputs = [&]() -> Result<NamedTensors> {
      PARITAS_ASSIGN(Runner runner,
                     Runner::start_in(request_.scratch, "reference-" + other.optimisation, other, request_.worker));
      PARITAS_ASSIGN(Session session, runner.open(*request_.pinned));
      if (!session.info().unoptimised_because.empty())
        return runtime_error(other.spec.text,
                             "the optimiser cannot be switched on: " + session.info().unoptimised_because);
      PARITAS_ASSIGN(RunReply reply, session.run(request_.inputs));
      return std::move(reply.outputs);
    }();
    if (!outputs) {
      optimisation_ = failed(NoiseSource::kReferenceOptimisation, outputs.error());
      return {};
    }
    NamedTensors first;
    for (const auto& [name, tensor] : *outputs)
      if (auto it = request_.reference_outputs->find(name); it != request_.reference_outputs->end())
        first.emplace_back(name, it->second);
    return take(optimisation_, first, {&*outputs});
  }

  template <class Open>
  Status run_rows(NoiseSource source, NoiseCheck& check, const Open& open) {
    auto outputs = [&]() -> Result<NamedTensors> {
      if (!rows_.repinned) return run_batch(open(*request_.pinned));
      PARITAS_ASSIGN(const auto model, pin_to_inputs(*request_.given, rows_.inputs, {}, nullptr));
      return run_batch(open(model));
    }();
    if (!outputs) {
      check = failed(source, outputs.error());
      return {};
    }
    check = NoiseCheck{};
    check.source = source;
    check.setting = fmt::format("{} rows fed with row 0", rows_.rows);
    check.runs = static_cast<uint64_t>(rows_.rows - 1);
    for (const auto& [output, tensor] : *outputs) {
      if (tensor.shape.empty() || tensor.shape.front() != rows_.rows) continue;
      PARITAS_ASSIGN(const auto alike, repeat_first_row(tensor, rows_.rows));
      if (!alike) continue;
      PARITAS_ASSIGN(NoiseFigure figure, compare(output, *alike, tensor));
      check.outputs.push_back(std::move(figure));
    }
    if (check.outputs.empty()) check = not_applicable(source, "no output has a row for each row of the inputs");
    return {};
  }

  Result<NamedTensors> run_batch(Result<Session> session) const {
    PARITAS_TRY(session);
    PARITAS_ASSIGN(RunReply reply, session->run(rows_.inputs));
    return std::move(reply.outputs);
  }

  const ConsistencyRequest& request_;
  Runner& reference_;
  Runner& device_;
  EqualRows rows_;
  NoiseCheck repeats_, rebuild_, device_rows_, reference_rows_, optimisation_;
  int device_sessions_ = 0;
};

}  // namespace

std::string_view name(NoiseSource source) {
  switch (source) {
    case NoiseSource::kDeviceRepeats:
      return "device repeats";
    case NoiseSource::kDeviceRebuild:
      return "device rebuild";
    case NoiseSource::kDeviceRows:
      return "device rows";
    case NoiseSource::kReferenceRows:
      return "reference rows";
    case NoiseSource::kReferenceOptimisation:
      return "reference optimisation";
  }
  return "";
}

bool of_reference(NoiseSource source) {
  return source == NoiseSource::kReferenceRows || source == NoiseSource::kReferenceOptimisation;
}

std::string_view shows(NoiseSource source) {
  switch (source) {
    case NoiseSource::kDeviceRepeats:
      return "how far the device's answer moves from run to run of one session";
    case NoiseSource::kDeviceRebuild:
      return "how far the device's answer moves when the model is built for it again";
    case NoiseSource::kDeviceRows:
      return "how far the device's answer depends on the place in the batch";
    case NoiseSource::kReferenceRows:
      return "how far the reference's answer depends on the place in the batch";
    case NoiseSource::kReferenceOptimisation:
      return "how far the reference's answer depends on what its runtime fuses and reorders";
  }
  return "";
}

std::string_view does_not_show(NoiseSource source) {
  switch (source) {
    case NoiseSource::kDeviceRepeats:
      return "that it never moves: rare events need more runs";
    case NoiseSource::kDeviceRebuild:
      return "what another version of the compiler would build";
    case NoiseSource::kDeviceRows:
    case NoiseSource::kReferenceRows:
      return "whether rows that differ influence each other";
    case NoiseSource::kReferenceOptimisation:
      return "which of the two is nearer to the exact result";
  }
  return "";
}

std::string_view name(NoiseCheck::Status status) {
  switch (status) {
    case NoiseCheck::Status::kMeasured:
      return "measured";
    case NoiseCheck::Status::kNotApplicable:
      return "not applicable";
    case NoiseCheck::Status::kFailed:
      return "failed";
  }
  return "";
}

std::vector<NoiseFloor> noise_floors(const std::vector<NoiseCheck>& checks) {
  std::vector<std::string> order;
  std::unordered_map<std::string, std::pair<const NoiseCheck*, const NoiseFigure*>> worst;
  for (const NoiseCheck& check : checks)
    for (const NoiseFigure& figure : check.outputs) {
      if (std::find(order.begin(), order.end(), figure.output) == order.end()) order.push_back(figure.output);
      auto& entry = worst[figure.output];
      if (figure.moves() && (entry.second == nullptr || worse(figure, *entry.second))) entry = {&check, &figure};
    }
  std::vector<NoiseFloor> floors;
  for (const std::string& output : order)
    if (const auto& [check, figure] = worst[output]; figure != nullptr)
      floors.push_back({output, check->source, figure->shape_changed, figure->metrics});
  return floors;
}

Result<Consistency> measure_consistency(const ConsistencyRequest& request, Runner& reference, Runner& device) {
  return Measuring(request, reference, device).run();
}

}  // namespace paritas
