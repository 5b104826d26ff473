// One truth case through the library: paritas-truth CASE.json. Exit code 0 pass, 1 deviates, 2 invalid or refused. The
// form of a case is described in README.md beside this file.
#include <cmath>
#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include "paritas/compare/compare.h"
#include "paritas/compare/test_streams.h"
#include "paritas/tensor/arrange.h"
#include "paritas/tensor/npy.h"
#include "paritas/tensor/safetensors.h"

namespace {

using namespace paritas;

constexpr int kPass = 0, kDeviates = 1, kRefused = 2;

struct Given {
  Tensor tensor;
  std::string layout;
  std::optional<Quantisation> quantisation;
};

// One iteration: names in order, which may repeat.
using Iteration = std::vector<std::pair<std::string, Given>>;

class Case {
 public:
  Case(const Json& json, Path folder) : json_(json), folder_(std::move(folder)) {}

  Result<int> run() {
    PARITAS_ASSIGN(const CompareOptions options, make_options());
    PARITAS_ASSIGN(auto reference, load_side("ref"));
    PARITAS_ASSIGN(auto device, load_side("test"));
    if (reference.empty() || device.empty()) return input_error("case", "nothing to compare: no iteration");
    if (reference.size() != device.size()) {
      std::printf("%zu iterations against %zu\n", reference.size(), device.size());
      return kDeviates;
    }
    Verdict verdict = Verdict::kPass;
    for (size_t i = 0; i < reference.size(); ++i) {
      PARITAS_ASSIGN(const CompareResult result, compare(reference[i], device[i], options));
      for (const auto& reason : result.reasons) std::printf("%s\n", reason.c_str());
      Verdict judged = result.verdict;
      // A reference that is not finite makes our verdict "invalid"; in the cases' words it was compared and failed.
      if (judged == Verdict::kInvalid && compared_and_refused(result)) judged = Verdict::kDeviates;
      verdict = worse(verdict, judged);
    }
    if (verdict == Verdict::kPass) return kPass;
    return verdict == Verdict::kDeviates ? kDeviates : kRefused;
  }

 private:
  static bool compared_and_refused(const CompareResult& result) {
    bool any = false;
    for (const TensorComparison& t : result.tensors) {
      if (t.verdict != Verdict::kInvalid) continue;
      if (!t.metrics || t.metrics->count == 0) return false;
      any = true;
    }
    return any;
  }

  Result<CompareOptions> make_options() const {
    CompareOptions options;
    options.inputs_unverified = true;  // a case holds outputs only
    Gate gate;
    gate.tensor = "*";
    gate.origin = "policy";
    Condition condition{"outside", GateOp::kLessEqual, 0, GateUnit::kAbsolute, {}, {}};
    const Json policy = json_.contains("policy") && json_["policy"].is_object() ? json_["policy"] : Json::object();
    for (auto [key, value] : {std::pair("atol", &condition.atol), std::pair("rtol", &condition.rtol)}) {
      *value = policy.contains(key) ? number_from_json(policy[key]).value_or(NAN) : 1e-5;
      if (!(**value >= 0) || !std::isfinite(**value))
        return usage_error("policy", fmt::format("{} is no tolerance", key));
    }
    gate.any = {{condition}};
    options.gates.gates = {gate};
    options.gates.nonfinite =
        policy.value("nan", "forbidden") == "equal" ? NonfinitePolicy::kEqual : NonfinitePolicy::kSameInf;
    options.gates.allow_extra_outputs = policy.value("extra", "forbidden") == "allowed";
    options.gates.exact_dtypes = policy.value("dtype", "may_differ") == "exact";
    options.pairing.normalised = policy.value("names", "exact") == "normalised";
    if (policy.contains("name_map"))
      for (const auto& [from, to] : policy["name_map"].items()) options.pairing.aliases[from] = to.get<std::string>();
    if (policy.contains("topk"))
      options.ranked.push_back({policy["topk"].value("scores", ""), policy["topk"].value("ids", "")});
    return options;
  }

  Result<std::vector<Iteration>> load_side(const char* key) const {
    std::vector<Iteration> iterations;
    if (!json_.contains(key)) return input_error("case", fmt::format("has no \"{}\"", key));
    const Json& side = json_[key];
    if (json_.value("format", "npy") == "safetensors") {
      if (!side.is_string()) return input_error("case", "safetensors are one file a side");
      PARITAS_ASSIGN(const SafetensorsFile file, read_safetensors(folder_ / side.get<std::string>()));
      Iteration iteration;
      for (const auto& [name, tensor] : file.tensors) iteration.emplace_back(name, Given{tensor, {}, {}});
      iterations.push_back(std::move(iteration));
      return iterations;
    }
    for (const Json& list : side) {
      Iteration iteration;
      for (const Json& item : list) {
        PARITAS_ASSIGN(Given given, load_tensor(item));
        iteration.emplace_back(item.value("name", ""), std::move(given));
      }
      iterations.push_back(std::move(iteration));
    }
    return iterations;
  }

  static Result<Shape> shape_of(const Json& json) {
    Shape shape;
    for (const Json& dim : json) shape.push_back(dim.get<int64_t>());
    PARITAS_TRY(element_count(shape));
    return shape;
  }

  Result<Given> load_tensor(const Json& item) const {
    const Path path = folder_ / item.value("file", "");
    Given given;
    given.layout = item.value("layout", "");
    if (item.contains("raw")) {
      PARITAS_ASSIGN(given.tensor, load_raw(path, item["raw"]));
    } else {
      PARITAS_ASSIGN(given.tensor, read_npy(path));
    }
    if (item.contains("dtype")) {
      const auto text = item.value("dtype", "");
      const auto dtype = dtype_from_name(text);
      if (!dtype) return input_error(path.string(), fmt::format("\"{}\" is no type", text));
      Shape shape = given.tensor.shape;
      if (item.contains("shape")) {
        PARITAS_ASSIGN(shape, shape_of(item["shape"]));
      }
      PARITAS_ASSIGN(given.tensor, make_tensor(*dtype, std::move(shape), given.tensor.bytes, path.string()));
    }
    if (item.contains("scale") || item.contains("zero_point")) {
      Quantisation q;
      q.scale = {item.value("scale", 1.0)};
      const double zero_point = item.value("zero_point", 0.0);
      if (zero_point != std::trunc(zero_point))
        return input_error(path.string(), "the zero point is not a whole number");
      if (std::abs(zero_point) > 0x1p31) return input_error(path.string(), "the zero point is beyond 32 bits");
      q.zero_point = {static_cast<int64_t>(zero_point)};
      if (is_float(given.tensor.dtype)) return input_error(path.string(), "a float tensor has no quantisation");
      given.quantisation = q;
    }
    return given;
  }

  // Padded rows: of a raw file, or of the data of an .npy file.
  static Result<Tensor> load_raw(const Path& path, const Json& raw) {
    const auto dtype = dtype_from_name(raw.value("dtype", ""));
    if (!dtype) return input_error(path.string(), "raw: no such type");
    PARITAS_ASSIGN(const Shape shape, shape_of(raw.value("shape", Json::array())));
    PARITAS_ASSIGN(auto file, File::open(path));
    Bytes bytes = Bytes::in_file(file, 0, file->size());
    std::byte magic[6] = {};
    if (file->size() >= sizeof magic) PARITAS_TRY(file->read(0, magic));
    if (magic[0] == std::byte{0x93} && magic[1] == std::byte{'N'}) {
      PARITAS_ASSIGN(const Tensor buffer, read_npy(path));
      bytes = buffer.bytes;
    }
    if (!raw.contains("row_pitch")) return make_tensor(*dtype, shape, bytes, path.string());
    return without_padding(bytes, *dtype, shape, raw["row_pitch"].get<uint64_t>(), path.string());
  }

  static void fill(MemoryStream& stream, const Iteration& iteration) {
    for (const auto& [name, given] : iteration) {
      TensorInfo info;
      info.name = name;
      info.dtype = given.tensor.dtype;
      info.quantisation = given.quantisation;
      stream.edit_info().tensors.push_back(info);  // listed here, so that repeated names are seen
      stream.add(name, Role::kOutput, given.tensor);
    }
  }

  // Device tensors in the layout of the reference tensor that they are paired with.
  static Status same_layouts(const Iteration& reference, Iteration& device, const CompareOptions& options) {
    const auto names = [](const Iteration& iteration) {
      std::vector<std::string> all;
      for (const auto& [name, given] : iteration) all.push_back(name);
      return all;
    };
    PARITAS_ASSIGN(const Pairing pairing, pair_names(names(reference), names(device), options.pairing, "ref", "test"));
    for (const NamePair& pair : pairing.pairs)
      for (auto& [name, given] : device)
        for (const auto& [other, wanted] : reference)
          if (name == pair.device && other == pair.reference && !given.layout.empty() && !wanted.layout.empty() &&
              given.layout != wanted.layout) {
            PARITAS_ASSIGN(given.tensor, to_layout(given.tensor, given.layout, wanted.layout, name));
          }
    return {};
  }

  static Result<CompareResult> compare(Iteration reference, Iteration device, const CompareOptions& options) {
    PARITAS_TRY(same_layouts(reference, device, options));
    MemoryStream x("ref"), y("test");
    if (reference.empty() && device.empty()) return input_error("case", "nothing to compare: no output");
    fill(x, reference);
    fill(y, device);
    return compare_streams(x, y, options);
  }

  const Json& json_;
  Path folder_;
};

int judge(const char* file) {
  const auto text = read_text(file, 16 << 20);
  if (!text) return std::printf("%s\n", text.error().message().c_str()), kRefused;
  const auto json = parse_json(*text, file);
  if (!json) return std::printf("%s\n", json.error().message().c_str()), kRefused;
  const auto code = Case(*json, Path(file).parent_path()).run();
  if (!code) return std::printf("%s\n", code.error().message().c_str()), kRefused;
  return *code;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: paritas-truth CASE.json\n"), kRefused;
  try {
    return judge(argv[1]);
  } catch (const std::exception& e) {  // a case of another form than described
    std::printf("%s\n", e.what());
    return kRefused;
  }
}
