#include "paritas/runtime/litert/compiled.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>

#include <fmt/format.h>

namespace paritas::litert {
namespace {

constexpr const char* kOpaquePrefix = "opaque.";

void set_shape(const Shape& shape, Layout& layout) {
  layout = Layout{};
  layout.rank = static_cast<unsigned>(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) layout.dims[i] = static_cast<int32_t>(shape[i]);
}

Shape shape_of(const Layout& layout) { return {layout.dims, layout.dims + layout.rank}; }

}  // namespace

Status Compiled::check(Code status, const char* doing, const char* remedy) const {
  if (status == 0) return {};
  return runtime_error(subject_,
                       fmt::format("LiteRT {} failed while {} ({})", api_.version, doing, status_text(status)), remedy);
}

// Where vendors' code runs. Their exceptions do pass through the C interface.
template <class Call>
Status Compiled::guarded(Call&& call, const char* doing, const char* remedy) const {
  try {
    return check(call(), doing, remedy);
  } catch (const std::exception& error) {
    return runtime_error(
        subject_, fmt::format("LiteRT {} threw an exception while {}: {}", api_.version, doing, error.what()), remedy);
  }
}

Status Compiled::wrong_size(size_t input, size_t given, size_t wanted) const {
  return runtime_error(subject_, fmt::format("LiteRT takes {} bytes for input {}, not {}", wanted, input, given));
}

Result<std::unique_ptr<Compiled>> Compiled::make(const Api& api, const Path& model, const Target& target,
                                                 const std::string& subject) {
  std::unique_ptr<Compiled> made(new Compiled(api, subject));
  PARITAS_TRY(made->create(model, target));
  PARITAS_TRY(made->read_ports());
  return made;
}

Status Compiled::create(const Path& model, const Target& target) {
  std::vector<EnvironmentOption> settings;
  texts_.reserve(3);  // pointers into it must stay
  const auto set = [&](int tag, const std::string& text) {
    texts_.push_back(text);
    settings.push_back({tag, {EnvironmentOption::kText, texts_.back().c_str()}});
  };
  const auto option = [&](const char* key) {
    const auto found = target.provider_options.find(key);
    return found == target.provider_options.end() ? std::string() : found->second;
  };
  if (const std::string folder = option("plugin"); !folder.empty()) set(kPluginFolder, folder);
  if (const std::string folder = option("dispatch"); !folder.empty()) set(kDispatchFolder, folder);
  // Libraries of accelerators lie beside it.
  if (target.accelerator == "gpu") set(kLibraryFolder, api_.path.parent_path().string());
  PARITAS_TRY(check(api_.create_environment(static_cast<int>(settings.size()), settings.data(), &environment_),
                    "making its environment"));
  PARITAS_TRY(check(api_.create_model_from_file(environment_, model.c_str(), &model_), "reading the model"));
  PARITAS_TRY(check(api_.create_options(&options_), "making options"));
  PARITAS_TRY(configure(target));
  PARITAS_TRY(guarded([&] { return api_.create_compiled(environment_, model_, options_, &compiled_); },
                      "compiling the model",
                      "check the accelerator's libraries (plugin=, dispatch=) and whether it supports this model"));
  // Without one the placement stays unknown; whoever needs it asks for events.
  if (api_.get_profiler(compiled_, &profiler_) != 0) profiler_ = nullptr;
  return {};
}

Status Compiled::configure(const Target& target) {
  const int accelerator = target.accelerator == "npu" ? kNpu : target.accelerator == "gpu" ? kGpu : kCpu;
  PARITAS_TRY(check(api_.set_accelerators(options_, accelerator), "choosing the accelerator"));
  // Beside an accelerator the CPU gets no delegate: what the profiler then sees in delegates is the accelerator's.
  PARITAS_TRY(add_opaque("xnnpack", fmt::format("kernel_mode = \"{}\"\nnum_threads = {}\n",
                                                accelerator == kCpu ? target.kernels : "builtin", target.threads)));
  PARITAS_TRY(add_opaque("runtime_options_string", "enable_profiling = true\n"));
  for (const auto& [key, text] : target.provider_options)
    if (key.rfind(kOpaquePrefix, 0) == 0) PARITAS_TRY(add_opaque(key.substr(std::strlen(kOpaquePrefix)), text));
  return {};
}

Status Compiled::add_opaque(const std::string& id, const std::string& text) {
  char* copy = ::strdup(text.c_str());
  void* opaque = nullptr;
  if (const Code status = api_.create_opaque_options(id.c_str(), copy, &std::free, &opaque); status != 0) {
    std::free(copy);
    return check(status, "making options");
  }
  if (const Code status = api_.add_opaque_options(options_, opaque); status != 0) {
    api_.destroy_opaque_options(opaque);
    return check(status, "taking options");
  }
  return {};
}

Status Compiled::read_ports() {
  void* graph = nullptr;
  PARITAS_TRY(check(api_.get_subgraph(model_, 0, &graph), "reading the graph"));
  size_t inputs = 0, outputs = 0;
  PARITAS_TRY(check(api_.input_count(graph, &inputs), "reading the inputs"));
  PARITAS_TRY(check(api_.output_count(graph, &outputs), "reading the outputs"));
  input_types_.resize(inputs);
  output_types_.resize(outputs);
  for (size_t i = 0; i < inputs; ++i) {
    void* tensor = nullptr;
    PARITAS_TRY(check(api_.get_input(graph, i, &tensor), "reading the inputs"));
    PARITAS_TRY(check(api_.tensor_type(tensor, &input_types_[i]), "reading an input's type"));
  }
  for (size_t i = 0; i < outputs; ++i) {
    void* tensor = nullptr;
    PARITAS_TRY(check(api_.get_output(graph, i, &tensor), "reading the outputs"));
    PARITAS_TRY(check(api_.tensor_type(tensor, &output_types_[i]), "reading an output's type"));
  }
  return {};
}

Status Compiled::resize(size_t input, const Shape& shape) {
  const std::vector<int> dims(shape.begin(), shape.end());
  if (shape.size() > static_cast<size_t>(kMostDimensions))
    return input_error(subject_, fmt::format("LiteRT takes at most {} dimensions", kMostDimensions));
  PARITAS_TRY(
      check(api_.resize_input(compiled_, 0, input, dims.data(), dims.size()), "changing the shape of an input"));
  set_shape(shape, input_types_[input].layout);
  return {};
}

Status Compiled::make_buffers() {
  drop_buffers();
  std::vector<Layout> layouts(outputs());
  PARITAS_TRY(
      check(api_.output_layouts(compiled_, 0, outputs(), layouts.data(), true), "asking for the outputs' shapes"));
  for (size_t i = 0; i < inputs(); ++i) {
    Layout layout{};
    void* requirements = nullptr;
    PARITAS_TRY(check(api_.input_layout(compiled_, 0, i, &layout), "asking for an input's shape"));
    set_shape(shape_of(layout), input_types_[i].layout);
    PARITAS_TRY(check(api_.input_requirements(compiled_, 0, i, &requirements), "asking what an input's buffer needs"));
    input_buffers_.push_back(nullptr);
    PARITAS_TRY(check(api_.create_buffer(environment_, &input_types_[i], requirements, &input_buffers_.back()),
                      "making an input's buffer"));
  }
  for (size_t i = 0; i < outputs(); ++i) {
    void* requirements = nullptr;
    for (const int64_t dim : shape_of(layouts[i]))
      if (dim < 0)
        return input_error(subject_,
                           fmt::format("the shape of output {} depends on values, for which LiteRT has no buffer", i),
                           "take a target of TensorFlow Lite: tflite:builtin or tflite:xnnpack");
    set_shape(shape_of(layouts[i]), output_types_[i].layout);
    PARITAS_TRY(
        check(api_.output_requirements(compiled_, 0, i, &requirements), "asking what an output's buffer needs"));
    output_buffers_.push_back(nullptr);
    PARITAS_TRY(check(api_.create_buffer(environment_, &output_types_[i], requirements, &output_buffers_.back()),
                      "making an output's buffer"));
  }
  return {};
}

Result<Shape> Compiled::shape_of_output(size_t output) const {
  std::vector<Layout> layouts(outputs());
  PARITAS_TRY(
      check(api_.output_layouts(compiled_, 0, outputs(), layouts.data(), false), "asking for the outputs' shapes"));
  const Shape now = shape_of(layouts[output]), before = shape_of(output_types_[output].layout);
  if (now != before)
    return input_error(subject_,
                       fmt::format("the shape of output {} changed in the run, from {} to {}", output,
                                   to_string(before), to_string(now)),
                       "take a target of TensorFlow Lite: tflite:builtin or tflite:xnnpack");
  return now;
}

Result<std::span<std::byte>> Compiled::lock(void* buffer, int mode) {
  size_t size = 0;
  void* data = nullptr;
  PARITAS_TRY(check(api_.buffer_size(buffer, &size), "asking for a buffer's size"));
  PARITAS_TRY(check(api_.lock(buffer, &data, mode), "opening a buffer"));
  if (data == nullptr && size > 0) return runtime_error(subject_, "LiteRT gave a buffer without memory");
  return std::span(static_cast<std::byte*>(data), size);
}

Status Compiled::unlock(void* buffer) { return check(api_.unlock(buffer), "closing a buffer"); }

Status Compiled::run() {
  return guarded(
      [&] { return api_.run(compiled_, 0, inputs(), input_buffers_.data(), outputs(), output_buffers_.data()); },
      "running the model", "");
}

Result<bool> Compiled::fully_accelerated() const {
  bool full = false;
  PARITAS_TRY(check(api_.fully_accelerated(compiled_, &full), "asking whether all of the model is accelerated"));
  return full;
}

Status Compiled::start_profiling() {
  if (profiler_ == nullptr) return {};
  PARITAS_TRY(check(api_.reset_profiler(profiler_), "resetting the profiler"));
  return check(api_.start_profiler(profiler_), "starting the profiler");
}

Result<std::vector<std::pair<std::string, int>>> Compiled::stop_profiling() {
  std::vector<std::pair<std::string, int>> seen;
  if (profiler_ == nullptr) return seen;
  PARITAS_TRY(check(api_.stop_profiler(profiler_), "stopping the profiler"));
  int count = 0;
  PARITAS_TRY(check(api_.event_count(profiler_, &count), "counting the profiler's events"));
  std::vector<ProfilerEvent> events(static_cast<size_t>(std::max(0, count)));
  if (!events.empty())
    PARITAS_TRY(check(api_.events(profiler_, count, events.data()), "reading the profiler's events"));
  for (const ProfilerEvent& event : events)
    if (event.type == ProfilerEvent::kOperator || event.type == ProfilerEvent::kOperatorInDelegate)
      seen.emplace_back(event.tag == nullptr ? "" : event.tag, event.type);
  return seen;
}

void Compiled::drop_buffers() {
  for (auto* buffers : {&input_buffers_, &output_buffers_}) {
    for (void* buffer : *buffers)
      if (buffer != nullptr) api_.destroy_buffer(buffer);
    buffers->clear();
  }
}

Compiled::~Compiled() {
  drop_buffers();
  if (compiled_ != nullptr) api_.destroy_compiled(compiled_);
  if (options_ != nullptr) api_.destroy_options(options_);
  if (model_ != nullptr) api_.destroy_model(model_);
  if (environment_ != nullptr) api_.destroy_environment(environment_);
}

}  // namespace paritas::litert
