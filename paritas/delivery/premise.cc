#include "paritas/delivery/premise.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/compare/compare.h"
#include "paritas/package/chain.h"
#include "paritas/runtime/marked_run.h"
#include "paritas/runtime/sim/simulate.h"

namespace paritas {
namespace {

struct Difference {
  std::string tensor;
  uint64_t sample = 0;
  double max_abs = 0, nmse = 0;  // 0 for shapes or types that differ
};

class PremiseCheck {
 public:
  explicit PremiseCheck(const PremiseRequest& request) : request_(request) {}

  Result<Premise> run() {
    const uint64_t samples = request_.reference->sample_count();
    PARITAS_ASSIGN(const auto difference, parts_against([&](uint64_t s) { return recorded(s); }, request_.target));
    if (!difference)
      return Premise{true, fmt::format("on the reference, the parts equal the whole bit for bit on {} sample{}",
                                       samples, samples == 1 ? "" : "s")};
    PARITAS_ASSIGN(const bool repeats, whole_repeats());
    if (!repeats)
      return Premise{false,
                     fmt::format("the reference's whole model does not repeat itself (\"{}\" differs between two "
                                 "runs): nothing can be proved of its parts; fix seeds or random operators",
                                 difference->tensor)};
    PARITAS_ASSIGN(const auto rounded, only_rounding(*difference));
    if (rounded) return *rounded;
    if (request_.target.optimisation == "none") return wrong(*difference);
    Target plain = request_.target;
    plain.optimisation = "none";
    PARITAS_ASSIGN(const auto unoptimised, whole_on(plain));
    PARITAS_ASSIGN(const auto left,
                   parts_against([&](uint64_t s) -> Result<NamedTensors> { return unoptimised[s]; }, plain));
    if (left) return wrong(*left);
    return Premise{
        true, fmt::format("on the reference, the parts equal the whole bit for bit with optimisation off; its "
                          "optimiser (\"{}\") moves \"{}\" by {:.3g} at most on sample {} (NMSE {:.2g}): that "
                          "is the noise floor",
                          request_.target.optimisation, difference->tensor, difference->max_abs, difference->sample,
                          difference->nmse)};
  }

 private:
  using Expected = std::function<Result<NamedTensors>(uint64_t sample)>;

  static Premise wrong(const Difference& d) {
    return {false,
            fmt::format("on the reference, the parts do not equal the whole: \"{}\" differs on sample {} (max_abs "
                        "{:.3g}). Usual reasons: a tensor that goes round the cut, a constant that is missing, "
                        "outputs in another order",
                        d.tensor, d.sample, d.max_abs)};
  }

  Result<NamedTensors> recorded(uint64_t s) const {
    PARITAS_ASSIGN(Sample sample, request_.reference->sample(s));
    return std::move(sample.tensors);
  }

  // ONNX Runtime's CPU computes 16-bit floats in float32 and drops the roundings between neighbouring nodes, so that a
  // cut adds one. With a node of our own at the boundary, which nothing is computed across, the whole has it too.
  Result<std::optional<Premise>> only_rounding(const Difference& difference) {
    std::vector<std::string> narrow;
    for (size_t i = 0; i + 1 < request_.parts->size(); ++i)
      for (const PackagePort& port : (*request_.parts)[i].outputs)
        if (port.dtype == DType::kF16 || port.dtype == DType::kBF16) narrow.push_back(port.tensor);
    if (narrow.empty()) return std::optional<Premise>();
    PARITAS_ASSIGN(const onnx_model::Model barred, make_perturbable(*request_.whole, narrow));
    PARITAS_ASSIGN(const auto expected, whole_on(request_.target, barred));
    PARITAS_ASSIGN(const auto left,
                   parts_against([&](uint64_t s) -> Result<NamedTensors> { return expected[s]; }, request_.target));
    if (left) return std::optional<Premise>();
    return std::optional(Premise{
        true,
        fmt::format("on the reference, the parts equal the whole bit for bit when it too rounds \"{}\" to {} at the "
                    "cut; uncut, ONNX Runtime's CPU keeps float32 there, which moves \"{}\" by {:.3g} at most on "
                    "sample {} (NMSE {:.2g}): that is the noise floor",
                    narrow.front(), name((*request_.parts)[0].outputs.front().dtype), difference.tensor,
                    difference.max_abs, difference.sample, difference.nmse)});
  }

  Path folder(const std::string& role) {
    const Path path = request_.scratch / fmt::format("premise-{}-{}", role, folders_++);
    std::error_code code;
    std::filesystem::create_directories(path, code);
    return path;
  }

  // The first tensor, in the order in which parts make them, that is not as expected.
  Result<std::optional<Difference>> parts_against(const Expected& expected, const Target& target) {
    std::vector<Stage> stages;
    for (size_t i = 0; i < request_.parts->size(); ++i) {
      const ModelPart& part = (*request_.parts)[i];
      stages.push_back({fmt::format("part {}", i + 1), target, {}, &part.model, part.inputs, part.outputs});
    }
    PARITAS_ASSIGN(Chain chain, Chain::open(std::move(stages), request_.worker, folder("parts")));
    for (uint64_t s = 0; s < request_.reference->sample_count(); ++s) {
      PARITAS_ASSIGN(const NamedTensors inputs, recorded(s));
      PARITAS_ASSIGN(const NamedTensors want, expected(s));
      PARITAS_ASSIGN(const NamedTensors made, chain.run(inputs_only(inputs)));
      for (const auto& [name, tensor] : made) {
        PARITAS_ASSIGN(const auto difference, compare(name, want, tensor, s));
        if (difference) return difference;
      }
    }
    return std::optional<Difference>();
  }

  NamedTensors inputs_only(const NamedTensors& tensors) const {
    NamedTensors inputs;
    for (const auto& input : onnx_model::describe_inputs(*request_.whole))
      for (const auto& each : tensors)
        if (each.first == input.name) inputs.push_back(each);
    return inputs;
  }

  static Result<std::optional<Difference>> compare(const std::string& name, const NamedTensors& want,
                                                   const Tensor& tensor, uint64_t sample) {
    const auto it = std::find_if(want.begin(), want.end(), [&](const auto& each) { return each.first == name; });
    if (it == want.end()) return std::optional(Difference{name, sample});
    PARITAS_ASSIGN(const bool equal, equal_bytes(it->second, tensor));
    if (equal) return std::optional<Difference>();
    Difference difference{name, sample};
    if (it->second.shape == tensor.shape && it->second.dtype == tensor.dtype) {
      PARITAS_ASSIGN(const PairMetrics metrics, compare_tensors(it->second, tensor, {}));
      difference.max_abs = metrics.max_abs;
      difference.nmse = metrics.nmse;
    }
    return std::optional(difference);
  }

  std::vector<std::string> boundary() const {
    std::vector<std::string> names;
    for (size_t i = 0; i + 1 < request_.parts->size(); ++i)
      for (const PackagePort& port : (*request_.parts)[i].outputs)
        if (std::none_of(request_.whole->graph().output().begin(), request_.whole->graph().output().end(),
                         [&](const auto& output) { return output.name() == port.tensor; }))
          names.push_back(port.tensor);
    return names;
  }

  Result<std::vector<NamedTensors>> whole_on(const Target& target) { return whole_on(target, *request_.whole); }
  Result<std::vector<NamedTensors>> whole_on(const Target& target, const onnx_model::Model& whole) {
    PARITAS_ASSIGN(Runner runner, Runner::start_in(folder("whole"), "worker", target, request_.worker));
    std::vector<NamedTensors> runs;
    for (uint64_t s = 0; s < request_.reference->sample_count(); ++s) {
      PARITAS_ASSIGN(const NamedTensors tensors, recorded(s));
      MarkedRequest marked;
      marked.model = &whole;
      marked.inputs = inputs_only(tensors);
      marked.marks = boundary();
      PARITAS_ASSIGN(const MarkedRun run, run_marked(runner, marked));
      runs.emplace_back(run.tensors.begin(), run.tensors.end());
    }
    return runs;
  }

  Result<bool> whole_repeats() {
    PARITAS_ASSIGN(const auto again, whole_on(request_.target));
    for (uint64_t s = 0; s < again.size(); ++s) {
      PARITAS_ASSIGN(const NamedTensors first, recorded(s));
      for (const auto& [name, tensor] : again[s]) {
        PARITAS_ASSIGN(const auto difference, compare(name, first, tensor, s));
        if (difference) return false;
      }
    }
    return true;
  }

  const PremiseRequest& request_;
  int folders_ = 0;
};

}  // namespace

Result<Premise> check_premise(const PremiseRequest& request) { return PremiseCheck(request).run(); }

}  // namespace paritas
