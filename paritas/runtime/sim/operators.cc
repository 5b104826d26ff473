#include "paritas/runtime/sim/operators.h"

#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "paritas/runtime/ort/api.h"
#include "paritas/runtime/sim/integers.h"
#include "paritas/runtime/sim/round_values.h"

namespace paritas::sim {
namespace {

const ActivePerturbations::Table* active_perturbations = nullptr;

// One operator with one input and one output. The callbacks are C function pointers; exceptions become OrtStatus.
template <class Kernel>
struct Operator : OrtCustomOp {
  explicit Operator(const char* operator_name) : OrtCustomOp{}, name(operator_name) {
    version = ort::api_version();
    GetName = [](const OrtCustomOp* op) { return static_cast<const Operator*>(op)->name; };
    GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return nullptr; };
    // Undefined means any type; ONNX Runtime then gives the output the type that it inferred for the input.
    GetInputType = [](const OrtCustomOp*, size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED; };
    GetOutputType = [](const OrtCustomOp*, size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED; };
    GetInputTypeCount = [](const OrtCustomOp*) -> size_t { return 1; };
    GetOutputTypeCount = [](const OrtCustomOp*) -> size_t { return 1; };
    GetInputCharacteristic = [](const OrtCustomOp*, size_t) { return INPUT_OUTPUT_REQUIRED; };
    GetOutputCharacteristic = [](const OrtCustomOp*, size_t) { return INPUT_OUTPUT_REQUIRED; };
    GetInputMemoryType = [](const OrtCustomOp*, size_t) { return OrtMemTypeDefault; };
    GetVariadicInputMinArity = [](const OrtCustomOp*) { return 1; };
    GetVariadicInputHomogeneity = [](const OrtCustomOp*) { return 1; };
    GetVariadicOutputMinArity = [](const OrtCustomOp*) { return 1; };
    GetVariadicOutputHomogeneity = [](const OrtCustomOp*) { return 1; };
    GetStartVersion = [](const OrtCustomOp*) { return 1; };
    GetEndVersion = [](const OrtCustomOp*) { return 1; };
    CreateKernelV2 = [](const OrtCustomOp*, const OrtApi*, const OrtKernelInfo* info, void** kernel) -> OrtStatusPtr {
      return status_of([&] { *kernel = new Kernel(Ort::ConstKernelInfo(info)); });
    };
    KernelComputeV2 = [](void* kernel, OrtKernelContext* context) -> OrtStatusPtr {
      return status_of([&] { static_cast<Kernel*>(kernel)->compute(Ort::KernelContext(context)); });
    };
    KernelDestroy = [](void* kernel) { delete static_cast<Kernel*>(kernel); };
    // The output may take the input's memory when nothing else reads the input.
    GetMayInplace = [](int** input, int** output) -> size_t {
      *input = new int[1]{0};
      *output = new int[1]{0};
      return 1;
    };
    ReleaseMayInplace = [](int* input, int* output) {
      delete[] input;
      delete[] output;
    };
  }

  template <class Body>
  static OrtStatusPtr status_of(Body&& body) noexcept {
    try {
      body();
      return nullptr;
    } catch (const std::exception& e) {
      return Ort::GetApi().CreateStatus(ORT_RUNTIME_EXCEPTION, e.what());
    } catch (...) {
      return Ort::GetApi().CreateStatus(ORT_RUNTIME_EXCEPTION, "unknown exception");
    }
  }

  const char* name;
};

struct Operands {
  Ort::ConstValue input;
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  Shape shape;
  uint64_t count = 0;
};

Operands operands(const Ort::KernelContext& context) {
  Operands result;
  result.input = context.GetInput(0);
  auto info = result.input.GetTensorTypeAndShapeInfo();
  result.type = info.GetElementType();
  result.shape = info.GetShape();
  result.count = info.GetElementCount();
  return result;
}

void copy_through(const Operands& in, Ort::UnownedValue out) {
  if (in.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    for (size_t i = 0; i < in.count; ++i) {
      const std::string text = in.input.GetStringTensorElement(i);
      std::memcpy(out.GetResizedStringTensorElementBuffer(i, text.size()), text.data(), text.size());
    }
    return;
  }
  const void* from = in.input.GetTensorRawData();
  void* to = out.GetTensorMutableRawData();
  size_t size = in.input.GetTensorSizeInBytes();
  if (from != to && size != 0) std::memcpy(to, from, size);
}

class RoundKernel {
 public:
  explicit RoundKernel(Ort::ConstKernelInfo info) {
    std::string format = info.GetAttribute<std::string>(kFormatAttribute);
    auto dtype = dtype_from_name(format);
    if (!dtype || !is_float(*dtype)) throw std::invalid_argument(fmt::format("Round: unknown format \"{}\"", format));
    format_.format = *dtype;
    std::string overflow = info.GetAttribute<std::string>(kOverflowAttribute);
    if (overflow != "inf" && overflow != "saturate")
      throw std::invalid_argument(fmt::format("Round: unknown overflow \"{}\"", overflow));
    format_.overflow = overflow == "inf" ? Overflow::kInfinity : Overflow::kSaturate;
  }

  void compute(const Ort::KernelContext& context) const {
    const Operands in = operands(context);
    auto out = context.GetOutput(0, in.shape);
    const auto dtype = dtype_from_onnx(in.type);
    if (!dtype || !is_rounded(*dtype)) return copy_through(in, out);
    const size_t size = byte_size(*dtype, in.count);
    round_values(*dtype, std::span(static_cast<const std::byte*>(in.input.GetTensorRawData()), size),
                 std::span(static_cast<std::byte*>(out.GetTensorMutableRawData()), size), format_);
  }

 private:
  SimulatedFormat format_;
};

class FakeQuantiseKernel {
 public:
  explicit FakeQuantiseKernel(Ort::ConstKernelInfo info) {
    steps_.scale = info.GetAttribute<float>(kScaleAttribute);
    if (!(steps_.scale > 0) || std::isinf(steps_.scale))
      throw std::invalid_argument(fmt::format("FakeQuantise: scale {} is not above 0", steps_.scale));
    steps_.zero_point = code(info, kZeroPointAttribute);
    steps_.lowest = code(info, kLowestAttribute);
    steps_.highest = code(info, kHighestAttribute);
    if (steps_.lowest > steps_.zero_point || steps_.zero_point > steps_.highest)
      throw std::invalid_argument(fmt::format("FakeQuantise: zero point {} is not from {} to {}", steps_.zero_point,
                                              steps_.lowest, steps_.highest));
  }

  void compute(const Ort::KernelContext& context) const {
    const Operands in = operands(context);
    if (in.type != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)
      throw std::invalid_argument("FakeQuantise: the tensor is not float32");
    auto out = context.GetOutput(0, in.shape);
    fake_quantise(std::span(static_cast<const float*>(in.input.GetTensorRawData()), in.count),
                  std::span(static_cast<float*>(out.GetTensorMutableRawData()), in.count), steps_);
  }

 private:
  // All of it must be exact in float32.
  static int code(Ort::ConstKernelInfo info, const char* attribute) {
    const auto value = info.GetAttribute<int64_t>(attribute);
    if (value < -65536 || value > 65536)
      throw std::invalid_argument(fmt::format("FakeQuantise: {} {} is beyond 16 bits", attribute, value));
    return static_cast<int>(value);
  }

  Steps steps_;
};

class PerturbKernel {
 public:
  explicit PerturbKernel(Ort::ConstKernelInfo info) : key_(info.GetAttribute<std::string>(kKeyAttribute)) {}

  void compute(const Ort::KernelContext& context) const {
    Operands in = operands(context);
    const Perturbation* active = find();
    if (active != nullptr) check(in, active->value);
    auto out = context.GetOutput(0, in.shape);
    if (active == nullptr) return copy_through(in, out);
    if (active->value.bytes().empty()) return;
    if (active->mode == Perturbation::Mode::kAdd) return add(in, active->value, out);
    std::memcpy(out.GetTensorMutableRawData(), active->value.bytes().data(), active->value.bytes().size());
  }

 private:
  const Perturbation* find() const {
    if (active_perturbations == nullptr) return nullptr;
    auto it = active_perturbations->find(key_);
    return it == active_perturbations->end() ? nullptr : &it->second;
  }

  void check(const Operands& in, const TensorView& replacement) const {
    auto dtype = dtype_from_onnx(in.type);
    if (dtype && *dtype == replacement.dtype() && in.shape == replacement.shape()) return;
    throw std::invalid_argument(fmt::format("Perturb \"{}\": the tensor is {} {}, the replacement {} {}", key_,
                                            dtype ? name(*dtype) : "of another type", to_string(in.shape),
                                            name(replacement.dtype()), to_string(replacement.shape())));
  }

  // In double, rounded once to the tensor's type.
  void add(const Operands& in, const TensorView& difference, Ort::UnownedValue out) const {
    auto sum = [&]<class T>(T, auto widen, auto narrow) {
      const auto* x = static_cast<const T*>(in.input.GetTensorRawData());
      auto* y = static_cast<T*>(out.GetTensorMutableRawData());
      for (uint64_t i = 0; i < in.count; ++i) {
        T d;  // the mapping may be unaligned
        std::memcpy(&d, difference.bytes().data() + i * sizeof(T), sizeof(T));
        y[i] = narrow(static_cast<double>(widen(x[i])) + static_cast<double>(widen(d)));
      }
    };
    auto same = [](auto value) { return value; };
    switch (in.type) {
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
        return sum(float{}, same, [](double v) { return static_cast<float>(v); });
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
        return sum(double{}, same, same);
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
        return sum(uint16_t{}, float_from_f16, [](double v) { return f16_from_float(static_cast<float>(v)); });
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16:
        return sum(uint16_t{}, float_from_bf16, [](double v) { return bf16_from_float(static_cast<float>(v)); });
      default:
        throw std::invalid_argument(
            fmt::format("Perturb \"{}\": differences can be added to float tensors only", key_));
    }
  }

  std::string key_;
};

}  // namespace

OrtCustomOpDomain* operator_domain() {
  static Operator<RoundKernel> round(kRound);
  static Operator<PerturbKernel> perturb(kPerturb);
  static Operator<FakeQuantiseKernel> fake_quantise(kFakeQuantise);
  static Ort::CustomOpDomain* domain = [] {
    auto* made = new Ort::CustomOpDomain(kDomain);  // never freed: sessions may outlive static destruction
    made->Add(&round);
    made->Add(&perturb);
    made->Add(&fake_quantise);
    return made;
  }();
  return *domain;
}

ActivePerturbations::ActivePerturbations(Table table) : table_(std::move(table)) { active_perturbations = &table_; }

ActivePerturbations::~ActivePerturbations() { active_perturbations = nullptr; }

}  // namespace paritas::sim
