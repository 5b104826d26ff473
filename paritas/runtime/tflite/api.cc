#include "paritas/runtime/tflite/api.h"

#include <dlfcn.h>
#include <link.h>

#include <fmt/format.h>

namespace paritas::tflite {
namespace {

constexpr const char* kRemedy =
    "give a shared library with TensorFlow Lite's C interface: library=PATH, or PARITAS_TFLITE";

class Symbols {
 public:
  explicit Symbols(void* handle) : handle_(handle) {}

  template <class Function>
  void take(const char* name, Function& to) {
    to = reinterpret_cast<Function>(::dlsym(handle_, name));
    if (to == nullptr && missing_.empty()) missing_ = name;
  }
  template <class Function>
  void may_take(const char* name, Function& to) const {
    to = reinterpret_cast<Function>(::dlsym(handle_, name));
  }
  const std::string& missing() const { return missing_; }

 private:
  void* handle_;
  std::string missing_;
};

void take_required(Symbols& symbols, Api& api) {
  symbols.take("TfLiteVersion", api.version);
  symbols.take("TfLiteModelCreateFromFile", api.model_create_from_file);
  symbols.take("TfLiteModelDelete", api.model_delete);
  symbols.take("TfLiteInterpreterOptionsCreate", api.options_create);
  symbols.take("TfLiteInterpreterOptionsDelete", api.options_delete);
  symbols.take("TfLiteInterpreterOptionsSetNumThreads", api.options_set_threads);
  symbols.take("TfLiteInterpreterOptionsSetErrorReporter", api.options_set_error_reporter);
  symbols.take("TfLiteInterpreterOptionsAddDelegate", api.options_add_delegate);
  symbols.take("TfLiteInterpreterCreate", api.interpreter_create);
  symbols.take("TfLiteInterpreterDelete", api.interpreter_delete);
  symbols.take("TfLiteInterpreterAllocateTensors", api.allocate_tensors);
  symbols.take("TfLiteInterpreterInvoke", api.invoke);
  symbols.take("TfLiteInterpreterGetInputTensorCount", api.input_count);
  symbols.take("TfLiteInterpreterGetInputTensor", api.input_tensor);
  symbols.take("TfLiteInterpreterResizeInputTensor", api.resize_input);
  symbols.take("TfLiteInterpreterGetOutputTensorCount", api.output_count);
  symbols.take("TfLiteInterpreterGetOutputTensor", api.output_tensor);
  symbols.take("TfLiteTensorNumDims", api.tensor_rank);
  symbols.take("TfLiteTensorDim", api.tensor_dim);
  symbols.take("TfLiteTensorByteSize", api.tensor_bytes);
  symbols.take("TfLiteTensorData", api.tensor_data);
}

void take_optional(const Symbols& symbols, Api& api) {
  symbols.may_take("TfLiteInterpreterOptionsSetOpResolver", api.options_set_resolver);
  symbols.may_take("TfLiteInterpreterCreateWithSelectedOps", api.interpreter_create_with_selected_ops);
  symbols.may_take("TfLiteInterpreterGetTensor", api.interpreter_tensor);
  symbols.may_take("TfLiteXNNPackDelegateCreate", api.xnnpack_create);
  symbols.may_take("TfLiteXNNPackDelegateDelete", api.xnnpack_delete);
  symbols.may_take("TfLiteXNNPackDelegateOptionsDefault", api.xnnpack_defaults);
  symbols.may_take("TfLiteExternalDelegateCreate", api.external_create);
  symbols.may_take("TfLiteExternalDelegateDelete", api.external_delete);
  symbols.may_take("TfLiteExternalDelegateOptionsDefault", api.external_defaults);
  symbols.may_take("TfLiteOpaqueDelegateCreate", api.opaque_delegate_create);
  symbols.may_take("TfLiteOpaqueDelegateDelete", api.opaque_delegate_delete);
  symbols.may_take("TfLiteOpaqueContextGetExecutionPlan", api.context_plan);
  symbols.may_take("TfLiteOpaqueContextGetNodeAndRegistration", api.context_node);
  symbols.may_take("TfLiteOperatorGetBuiltInCode", api.operator_code);
  symbols.may_take("TfLiteOperatorGetCustomName", api.operator_custom_name);
  symbols.may_take("TfLiteOpaqueNodeGetBuiltinData", api.node_builtin_data);
  symbols.may_take("_ZN6tflite3ops7builtin20BuiltinRefOpResolverC1Ev", api.reference_resolver);
  symbols.may_take("_ZN6tflite3ops7builtin17BuiltinOpResolverC1Ev", api.builtin_resolver);
  symbols.may_take("_ZNK6tflite3ops7builtin20BuiltinRefOpResolver6FindOpENS_15BuiltinOperatorEi", api.reference_find);
  symbols.may_take("_ZNK6tflite17MutableOpResolver6FindOpENS_15BuiltinOperatorEi", api.find);
  symbols.may_take("_ZNK6tflite17MutableOpResolver6FindOpEPKci", api.find_custom);
}

}  // namespace

Result<Api> Api::load(const Path& library) {
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return runtime_error(library.string(),
                         fmt::format("cannot be loaded as TensorFlow Lite: {}", reason ? reason : "unknown reason"),
                         kRemedy);
  }
  Api api{};
  Symbols symbols(handle);
  take_required(symbols, api);
  if (!symbols.missing().empty())
    return runtime_error(library.string(),
                         fmt::format("is a library, but not TensorFlow Lite (no {})", symbols.missing()), kRemedy);
  take_optional(symbols, api);
  api.path = library;
  link_map* map = nullptr;
  std::error_code code;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name != nullptr)
    if (Path real = std::filesystem::canonical(map->l_name, code); !code) api.path = real;
  return api;
}

}  // namespace paritas::tflite
