#include "paritas/locate/pieces.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <future>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/base/glob.h"
#include "paritas/judge/catalogue_pieces.h"
#include "paritas/locate/local_probes.h"
#include "paritas/runtime/inputs.h"
#include "paritas/runtime/marked_run.h"
#include "paritas/runtime/run_info.h"
#include "paritas/runtime/sim/simulate.h"
#include "paritas/tensor/float_formats.h"

namespace paritas {
namespace {

using Tensors = std::unordered_map<std::string, Tensor>;

// A function of one tensor and the island that computes it.
struct Piece {
  std::string op;
  CurveKind kind;
  onnx_model::Island island;
  std::string input, output;
  std::vector<std::string> parts;
  std::string declared_form;
};

// Every `stride`-th element.
Result<std::vector<double>> doubles(const Tensor& tensor, uint64_t stride) {
  PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor));
  std::vector<double> values;
  values.reserve(view.count() / stride + 1);
  constexpr uint64_t kPiece = 65536;
  std::vector<double> piece;
  for (uint64_t first = 0; first < view.count(); first += kPiece) {
    piece.resize(std::min(kPiece, view.count() - first));
    load_as_double(view.dtype(), view.bytes(), first, piece);
    for (uint64_t i = (stride - first % stride) % stride; i < piece.size(); i += stride) values.push_back(piece[i]);
  }
  return values;
}

// The sweep, in the shape and type of a real input.
Result<Tensor> swept(const Tensor& like) {
  const uint64_t count = like.count(), different = std::min(count, kSweepInputs);
  std::vector<float> values(count);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = i % different;
    const double step = different > 1 ? 2 * kSweepReach / static_cast<double>(different - 1) : 0;
    values[i] = static_cast<float>(different > 1 ? -kSweepReach + step * static_cast<double>(at) : 0);
  }
  if (like.dtype == DType::kF32) return tensor_from_values(DType::kF32, like.shape, values);
  if (like.dtype == DType::kF16) {
    std::vector<uint16_t> halves(count);
    std::transform(values.begin(), values.end(), halves.begin(), [](float v) { return f16_from_float(v); });
    return tensor_from_values(DType::kF16, like.shape, halves);
  }
  return input_error("--sweep", fmt::format("inputs of type {} are not swept", name(like.dtype)));
}

class Pieces {
 public:
  explicit Pieces(const PiecesRequest& request) : request_(request), start_(std::chrono::steady_clock::now()) {}

  Result<PiecesResult> run() {
    const LocateRequest& base = request_.base;
    for (const Target* target : {&base.reference, &base.device}) PARITAS_TRY(needs_parts(*target, "pieces"));
    PARITAS_ASSIGN(const auto given, onnx_model::Model::load(base.model));
    PARITAS_TRY(check_inputs(given, base.inputs));
    PARITAS_ASSIGN(const auto model, pin_to_inputs(given, base.inputs, base.dims, nullptr));
    PARITAS_ASSIGN(ScratchFolder scratch, ScratchFolder::create(base.scratch_root));
    scratch_.emplace(std::move(scratch));
    auto other = std::async(std::launch::async, [&] { return start("device", base.device); });
    auto reference = start("reference", base.reference);
    auto device = other.get();
    PARITAS_TRY(reference);
    PARITAS_TRY(device);
    describe(given, *reference);
    PARITAS_ASSIGN(prepared_, prepare(model, base.inputs, *reference));
    PARITAS_TRY(choose());
    PARITAS_TRY(real(*reference));
    PARITAS_TRY(measure(*reference, *device, false));
    if (request_.sweep) {
      PARITAS_TRY(synthetic());
      PARITAS_TRY(measure(*reference, *device, true));
    }
    explain();
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    return std::move(result_);
  }

 private:
  Result<Runner> start(const char* role, const Target& target) const {
    return Runner::start_in(scratch_->path(), role, target, request_.base.worker);
  }

  void describe(const onnx_model::Model& model, Runner& reference) {
    result_.model = request_.base.model.string();
    result_.reference = request_.base.reference.spec.text;
    result_.device = request_.base.device.spec.text;
    result_.storage = request_.base.device.capabilities.storage_type;
    result_.reference_info = make_run_info(model, request_.base.reference, reference.worker().identity());
    result_.reference_info.tool_version = request_.base.tool_version;
  }

  // A sweep feeds all functions of a type alike: what it shows is said once.
  void explain() {
    std::map<std::string, std::pair<size_t, size_t>> said;  // key -> finding, further nodes
    for (const PieceRow& row : result_.rows)
      for (Finding& finding : explain_piece(row, result_.device, result_.storage)) {
        const std::string key = fmt::format("{} {} {}", finding.id, row.op, finding.evidence.value("left", false));
        const auto known = row.synthetic ? said.find(key) : said.end();
        if (known != said.end()) {
          result_.findings[known->second.first].nodes.push_back(row.node);
          ++known->second.second;
          continue;
        }
        if (row.synthetic) said[key] = {result_.findings.size(), 0};
        result_.findings.push_back(std::move(finding));
      }
    for (const auto& [key, which] : said)
      if (which.second > 0)
        result_.findings[which.first].text += fmt::format(" {} further nodes of this type do alike.", which.second);
  }

  // --- which ------------------------------------------------------------------------------------------------------

  Status choose() {
    PARITAS_ASSIGN(const auto gelus, find_decomposed_gelus(*prepared_));
    const auto& nodes = prepared_->index.nodes();
    std::vector<Piece> all;
    std::unordered_set<int> inside;
    for (const DecomposedGelu& gelu : gelus) {
      Piece piece;
      piece.op = "Gelu";
      piece.kind = *curve_kind("Gelu");
      piece.declared_form = "exact";
      for (const int i : gelu.nodes) piece.parts.push_back(nodes[static_cast<size_t>(i)].name);
      PARITAS_ASSIGN(piece.island, onnx_model::group_island(prepared_->folded, prepared_->index, prepared_->dependence,
                                                            piece.parts.back(), gelu.nodes));
      add(std::move(piece), all);
      for (const int i : gelu.nodes) inside.insert(i);
    }
    const bool asked = !request_.op.empty() || !request_.node.empty();
    for (size_t i = 0; i < nodes.size(); ++i) {
      const auto kind = curve_kind(nodes[i].op);
      const bool part = inside.count(static_cast<int>(i)) != 0;
      if (!kind || (part && !asked)) continue;
      Piece piece;
      piece.op = nodes[i].op;
      piece.kind = *kind;
      if (kind->gelu) piece.declared_form = declared(nodes[i]);
      piece.island = onnx_model::single_node_island(prepared_->folded, prepared_->index, prepared_->dependence,
                                                    static_cast<int>(i));
      add(std::move(piece), all);
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Piece& a, const Piece& b) { return a.island.nodes.back() < b.island.nodes.back(); });
    return select(std::move(all));
  }

  void add(Piece piece, std::vector<Piece>& all) const {
    if (piece.island.inputs.size() != 1 || piece.island.outputs.size() != 1)
      return;  // a constant's, or a second operand
    piece.input = piece.island.inputs.front();
    piece.output = piece.island.outputs.front();
    all.push_back(std::move(piece));
  }

  std::string declared(const onnx_model::GraphIndex::Node& node) const {
    if (node.op == "com.microsoft::FastGelu") return "tanh";
    for (const auto& attribute : prepared_->folded.graph().node(node.proto_index).attribute())
      if (attribute.name() == "approximate" && attribute.s() == "tanh") return "tanh";
    return "exact";
  }

  bool fits(const Piece& piece, bool by_suffix) const {
    if (!request_.op.empty() && piece.op != request_.op && piece.op != "com.microsoft::" + request_.op) return false;
    if (request_.node.empty()) return true;
    const std::string& asked = request_.node;
    if (asked.find_first_of("*?") != std::string::npos) return glob_match(asked, piece.island.name);
    return piece.island.name == asked || (by_suffix && piece.island.name.ends_with(asked));
  }

  Status select(std::vector<Piece> all) {
    for (const bool by_suffix : {false, true}) {
      for (const Piece& piece : all)
        if (fits(piece, by_suffix)) pieces_.push_back(piece);
      if (!pieces_.empty()) break;
    }
    const bool pattern = request_.node.find_first_of("*?") != std::string::npos;
    if (pieces_.size() > 1 && !request_.node.empty() && !pattern) {
      std::string names;
      for (size_t i = 0; i < pieces_.size() && i < 8; ++i)
        names += (i == 0 ? "\"" : ", \"") + pieces_[i].island.name + "\"";
      return usage_error("--node " + request_.node, fmt::format("fits {} nodes: {}", pieces_.size(), names),
                         "name one of them, or write a pattern with *");
    }
    if (!pieces_.empty()) return {};
    if (all.empty())
      return input_error(
          request_.base.model.string(),
          "no node computes a function of one tensor that is looked into here (Erf, Gelu, Sigmoid, Tanh, "
          "Exp, Softplus and their kin)",
          "paritas locate probes every node");
    std::string ops;
    for (const Piece& piece : all)
      if (ops.find(piece.op) == std::string::npos) ops += (ops.empty() ? "" : ", ") + piece.op;
    return usage_error(request_.node.empty() ? "--op " + request_.op : "--node " + request_.node,
                       "fits no function of one tensor in this model", "it has " + ops);
  }

  // --- values -----------------------------------------------------------------------------------------------------

  Status real(Runner& reference) {
    if (request_.base.progress) request_.base.progress("reference");
    MarkedRequest marked;
    marked.model = &prepared_->folded;
    marked.inputs = request_.base.inputs;
    marked.memory_budget = request_.base.memory_budget / 2;
    std::unordered_set<std::string> wanted;
    for (const Piece& piece : pieces_) {
      wanted.insert(piece.input);
      wanted.insert(piece.output);
    }
    for (const auto& node : prepared_->index.nodes())
      for (const auto& output : node.outputs)
        if (wanted.count(output) != 0 && !prepared_->index.is_output(output)) marked.marks.push_back(output);
    PARITAS_ASSIGN(MarkedRun run, run_marked(reference, marked));
    tensors_ = std::move(run.tensors);
    for (const auto& [name, tensor] : request_.base.inputs) tensors_.emplace(name, tensor);
    return {};
  }

  Status synthetic() {
    Tensors sweep;
    for (const Piece& piece : pieces_) {
      const auto like = tensors_.find(piece.input);
      if (like == tensors_.end() || like->second.count() == 0) continue;
      auto values = swept(like->second);
      if (values)
        sweep.insert_or_assign(piece.input, std::move(*values));
      else
        result_.notes.push_back(fmt::format("{}: {}", piece.island.name, values.error().message()));
    }
    tensors_ = std::move(sweep);
    return {};
  }

  // Islands share no nodes within a session: a GELU and its own Erf are probed one after the other.
  Result<Probes> probe(Runner& runner, std::optional<DType> round_inputs, bool wholes) const {
    ProbeRequest request;
    request.prepared = &*prepared_;
    request.reference = &tensors_;
    request.memory_budget = request_.base.memory_budget / 2;
    request.round_inputs = round_inputs;
    for (const Piece& piece : pieces_)
      if (piece.parts.empty() != wholes) request.islands.push_back(piece.island);
    if (request.islands.empty()) return Probes{};
    return run_probes(runner, request);
  }

  Status measure(Runner& reference, Runner& device, bool is_sweep) {
    if (request_.base.progress) request_.base.progress(is_sweep ? "sweep" : "probes");
    for (const bool wholes : {true, false}) {
      PARITAS_ASSIGN(const Probes on_device, probe(device, std::nullopt, wholes));
      PARITAS_ASSIGN(const Probes exact, probe(reference, std::nullopt, wholes));
      Probes rounded;
      if (result_.storage && is_float(*result_.storage)) {
        PARITAS_ASSIGN(rounded, probe(reference, result_.storage, wholes));
      }
      for (const Piece& piece : pieces_) {
        if (piece.parts.empty() == wholes) continue;
        PARITAS_ASSIGN(auto row, row_of(piece, on_device, exact, rounded));
        row.synthetic = is_sweep;
        if (row.stride > 1)
          result_.notes.push_back(fmt::format("{}: one in {} of its inputs was looked at", row.node, row.stride));
        result_.rows.push_back(std::move(row));
      }
    }
    return {};
  }

  Result<PieceRow> row_of(const Piece& piece, const Probes& on_device, const Probes& exact,
                          const Probes& rounded) const {
    PieceRow row;
    row.node = piece.island.name;
    row.op = piece.op;
    row.parts = piece.parts;
    row.input = piece.input;
    row.output = piece.output;
    row.declared_form = piece.declared_form;
    if (const auto reason = on_device.not_probed.find(piece.island.name); reason != on_device.not_probed.end()) {
      row.not_probed = reason->second;
      return row;
    }
    const auto x = tensors_.find(piece.input), device = on_device.local.find(piece.output);
    const auto reference = exact.local.find(piece.output), stored = rounded.local.find(piece.output);
    if (x == tensors_.end() || device == on_device.local.end() || reference == exact.local.end() ||
        device->second.count() != reference->second.count() || x->second.count() != reference->second.count()) {
      row.not_probed = "a side gave no result of the input's size";
      return row;
    }
    if (const auto where = on_device.ran_on.find(piece.island.name); where != on_device.ran_on.end())
      row.ran_on = where->second;
    CurveValues values;
    row.stride = x->second.count() / kMaxInputs + 1;
    PARITAS_ASSIGN(values.x, doubles(x->second, row.stride));
    PARITAS_ASSIGN(values.reference, doubles(reference->second, row.stride));
    PARITAS_ASSIGN(values.device, doubles(device->second, row.stride));
    if (stored != rounded.local.end() && stored->second.count() == x->second.count()) {
      PARITAS_ASSIGN(values.stored, doubles(stored->second, row.stride));
      for (double& value : values.stored) value = round_to_format(value, *result_.storage);
    }
    fill(row, piece.kind, values, x->second.dtype);
    return row;
  }

  void fill(PieceRow& row, const CurveKind& kind, const CurveValues& values, DType type) const {
    row.x_min = INFINITY;
    row.x_max = -INFINITY;
    for (const double x : values.x) {
      if (!std::isfinite(x)) continue;
      ++row.count;
      row.x_min = std::min(row.x_min, x);
      row.x_max = std::max(row.x_max, x);
    }
    row.intervals = curve_intervals(values);
    row.sides = curve_sides(kind, values, result_.storage);
    if (!kind.gelu) return;
    row.reference_form = gelu_form(values.x, values.reference, type, true);
    row.device_form = gelu_form(values.x, values.device, result_.storage.value_or(type), !row.parts.empty());
  }

  const PiecesRequest& request_;
  std::chrono::steady_clock::time_point start_;
  std::optional<ScratchFolder> scratch_;
  std::optional<Prepared> prepared_;
  std::vector<Piece> pieces_;
  Tensors tensors_;
  PiecesResult result_;
};

}  // namespace

std::vector<Finding> explain_piece(const PieceRow& row, const std::string& device, std::optional<DType> storage) {
  std::vector<Finding> findings;
  if (!row.not_probed.empty()) return findings;
  for (size_t s = 0; s < 2; ++s) {
    const CurveSide& side = row.sides[s];
    // Where the function tends to its input, an early end loses nothing.
    if (side.early == 0 || !side.device.from || side.tail == Tail::kIdentity) continue;
    catalogue::SaturationFacts facts;
    facts.node = row.node;
    facts.op = row.op;
    facts.device = device;
    facts.format = storage ? std::string(name(*storage)) : std::string();
    facts.left = s == 0;
    facts.synthetic = row.synthetic;
    facts.from = *side.device.from;
    facts.level = side.device.level;
    const Saturation& due = side.stored ? *side.stored : side.reference;
    facts.due = due.from;
    facts.inputs = side.early;
    facts.share = static_cast<double>(side.early) / static_cast<double>(std::max<uint64_t>(1, row.count));
    facts.max_abs = side.early_max_abs;
    findings.push_back(side.tail == Tail::kZero && side.device.level == 0 ? catalogue::tail_lost(facts)
                                                                          : catalogue::saturates_early(facts));
  }
  if (row.device_form && row.reference_form && row.device_form->form != "cannot tell" &&
      row.reference_form->form != "cannot tell" && row.device_form->form != row.reference_form->form)
    findings.push_back(catalogue::gelu_forms({row.node, device, row.declared_form, row.reference_form->form,
                                              row.device_form->form, row.device_form->position, row.synthetic}));
  return findings;
}

Result<PiecesResult> pieces(const PiecesRequest& request) { return Pieces(request).run(); }

}  // namespace paritas
