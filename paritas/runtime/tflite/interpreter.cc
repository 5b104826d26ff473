#include "paritas/runtime/tflite/interpreter.h"

#include <cstdio>

#include <fmt/format.h>

namespace paritas::tflite {
namespace {

constexpr size_t kMostText = 16384;  // of what a library says

}  // namespace

void Interpreter::report(void* self, const char* format, va_list arguments) {
  std::string& said = static_cast<Interpreter*>(self)->said_;
  char text[2048];
  if (std::vsnprintf(text, sizeof text, format, arguments) <= 0 || said.size() > kMostText) return;
  said += text;
  if (said.back() != '\n') said += '\n';
}

Unexpected Interpreter::failed(const std::string& doing, const std::string& remedy) const {
  const std::string first = said_.substr(0, said_.find('\n'));
  return runtime_error(
      subject_,
      fmt::format("TensorFlow Lite {} failed while {}{}{}", api_.version(), doing, first.empty() ? "" : ": ", first),
      remedy, said_.size() > first.size() + 1 ? said_ : std::string());
}

Status Interpreter::add_xnnpack(const Target& target) {
  if (api_.xnnpack_create == nullptr || api_.xnnpack_delete == nullptr || api_.xnnpack_defaults == nullptr)
    return runtime_error(target.spec.text, fmt::format("{} has no XNNPACK delegate", api_.path.string()),
                         "take tflite:builtin, or another library");
  XnnpackOptions options = api_.xnnpack_defaults();
  options.threads = target.threads;
  xnnpack_ = api_.xnnpack_create(&options);
  if (xnnpack_ == nullptr) return failed("making the XNNPACK delegate");
  api_.options_add_delegate(options_, xnnpack_);
  return {};
}

Status Interpreter::add_external(const Target& target) {
  if (api_.external_create == nullptr || api_.external_delete == nullptr || api_.external_defaults == nullptr)
    return runtime_error(target.spec.text, fmt::format("{} cannot load external delegates", api_.path.string()),
                         "take another library");
  ExternalDelegateOptions options = api_.external_defaults(target.provider_library.c_str());
  if (target.provider_options.size() > static_cast<size_t>(ExternalDelegateOptions::kMost))
    return usage_error(target.spec.text, fmt::format("a delegate takes at most {} options", options.kMost));
  option_texts_.reserve(2 * target.provider_options.size());  // pointers into it must stay
  for (const auto& [key, value] : target.provider_options) {
    option_texts_.push_back(key);
    options.keys[options.count] = option_texts_.back().c_str();
    option_texts_.push_back(value);
    options.values[options.count] = option_texts_.back().c_str();
    ++options.count;
  }
  external_ = api_.external_create(&options);
  if (external_ == nullptr)
    return failed(fmt::format("loading the delegate {}", target.provider_library),
                  "check the library and its options; it must export tflite_plugin_create_delegate");
  api_.options_add_delegate(options_, external_);
  return {};
}

Status Interpreter::add_delegates(const Target& target) {
  if (!target.provider_library.empty()) PARITAS_TRY(add_external(target));
  if (target.xnnpack) PARITAS_TRY(add_xnnpack(target));
  spy_ = Spy::make(api_);
  if (spy_) api_.options_add_delegate(options_, spy_->delegate());
  return {};
}

Result<std::unique_ptr<Interpreter>> Interpreter::make(const Api& api, const Path& model, const Target& target,
                                                       Kernels* kernels) {
  std::unique_ptr<Interpreter> made(new Interpreter(api, model.string()));
  made->model_ = api.model_create_from_file(model.c_str());
  if (made->model_ == nullptr) return made->failed("reading the model");
  made->options_ = api.options_create();
  api.options_set_threads(made->options_, target.threads);
  api.options_set_error_reporter(made->options_, &report, made.get());
  if (kernels != nullptr) kernels->use_in(made->options_);
  PARITAS_TRY(made->add_delegates(target));
  made->handle_ = (kernels != nullptr ? api.interpreter_create_with_selected_ops : api.interpreter_create)(
      made->model_, made->options_);
  if (made->handle_ == nullptr)
    return made->failed("making the interpreter",
                        "the library may lack an operator of the model, or its delegate failed");
  if (made->spy_) made->plan_ = made->spy_->plan();
  PARITAS_TRY(made->allocate());
  return made;
}

Interpreter::~Interpreter() {
  if (handle_ != nullptr) api_.interpreter_delete(handle_);
  spy_.reset();
  if (xnnpack_ != nullptr) api_.xnnpack_delete(xnnpack_);
  if (external_ != nullptr) api_.external_delete(external_);
  if (options_ != nullptr) api_.options_delete(options_);
  if (model_ != nullptr) api_.model_delete(model_);
}

Status Interpreter::allocate() {
  if (api_.allocate_tensors(handle_) != 0) return failed("allocating the tensors");
  return {};
}

Status Interpreter::invoke() {
  if (api_.invoke(handle_) != 0) return failed("running the model");
  return {};
}

Status Interpreter::resize(int input, const std::vector<int>& dims) {
  if (api_.resize_input(handle_, input, dims.data(), static_cast<int32_t>(dims.size())) != 0)
    return failed("changing the shape of an input", "give an input of the shape that the model declares");
  return {};
}

}  // namespace paritas::tflite
