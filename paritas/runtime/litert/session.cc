#include "paritas/runtime/litert/session.h"

#include <algorithm>
#include <chrono>
#include <set>

#include <fmt/format.h>

#include "paritas/runtime/litert/compiled.h"
#include "paritas/runtime/tflite/calls.h"
#include "paritas/tflite/model.h"
#include "paritas/tflite/promote.h"

namespace paritas::litert {
namespace {

using tflite::GraphTensor;
using tflite::Model;

class LitertSession : public BackendSession {
 public:
  LitertSession(const Api& api, Model model, const SessionRequest& request, const Path& scratch)
      : api_(api), model_(std::move(model)), target_(request.target), file_(request.model), scratch_(scratch) {}

  ~LitertSession() override {
    compiled_.reset();
    std::error_code ignored;
    if (file_ != model_.path()) std::filesystem::remove(file_, ignored);
  }

  const SessionInfo& info() const override { return info_; }

  Status open(const std::vector<std::string>& fetch, int number) {
    const auto start = std::chrono::steady_clock::now();
    PARITAS_ASSIGN(fetch_, tflite::chosen_tensors(model_, fetch));
    outputs_ = model_.main().outputs;
    const std::vector<int> intermediates = tflite::beyond_outputs(model_, fetch_);
    outputs_.insert(outputs_.end(), intermediates.begin(), intermediates.end());
    PARITAS_TRY(check_names());
    if (!intermediates.empty() || !model_.signatures().empty()) {
      file_ = scratch_ / fmt::format("promoted-{}.tflite", number);
      PARITAS_TRY(promote(model_, intermediates, file_));
    }
    PARITAS_TRY(renew());
    for (const int input : model_.main().inputs) info_.inputs.push_back(tflite::port_of(tensor(input)));
    for (const int output : fetch_) info_.outputs.push_back(tflite::port_of(tensor(output)));
    PARITAS_ASSIGN(const bool full, compiled_->fully_accelerated());
    info_.fully_accelerated = full;
    info_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return {};
  }

  Result<Ran> run(const Order& order, const Path& file) override {
    PARITAS_TRY(check_ports(order.inputs, info_, model_.subject()));
    if (!order.injection.replace.empty() || !order.injection.add.empty())
      return usage_error(model_.subject(), "errors cannot be put into TFLite models");
    PARITAS_ASSIGN(const std::vector<int> fetch, tflite::tensors_of_run(model_, order.fetch, fetch_));
    if (used_ && (model_.stateful() || order.steps > 0)) PARITAS_TRY(renew());
    used_ = true;
    kept_.clear();
    Ran ran;
    const uint64_t steps = std::max<uint64_t>(order.steps, 1);
    for (uint64_t step = 0; step < steps; ++step) {
      PARITAS_TRY(feed(order, step, steps));
      if (step == 0) PARITAS_TRY(compiled_->start_profiling());
      const auto start = std::chrono::steady_clock::now();
      PARITAS_TRY(compiled_->run());
      ran.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (step == 0) {
        PARITAS_ASSIGN(ran.calls, count_calls());
      }
      PARITAS_TRY(keep_outputs(fetch, step));
    }
    PARITAS_ASSIGN(ran.outputs, kept_.store(fetch, steps, file));
    kept_.clear();
    return ran;
  }

 private:
  const GraphTensor& tensor(int index) const { return model_.main().tensors[static_cast<size_t>(index)]; }

  // LiteRT finds a graph's ports by their names in the file.
  Status check_names() const {
    for (const auto* ports : {&model_.main().inputs, &outputs_}) {
      std::set<std::string> names;
      for (const int port : *ports)
        if (tensor(port).name.empty() || !names.insert(tensor(port).name).second)
          return input_error(model_.subject(),
                             fmt::format("\"{}\" shares its name with another tensor or has none, and LiteRT finds "
                                         "tensors by name",
                                         tensor(port).id),
                             "leave it out of --marks, or take a target of TensorFlow Lite (tflite:...)");
    }
    return {};
  }

  Status renew() {
    compiled_.reset();
    PARITAS_ASSIGN(compiled_, Compiled::make(api_, file_, target_, model_.subject()));
    if (compiled_->inputs() != model_.main().inputs.size() || compiled_->outputs() != outputs_.size())
      return runtime_error(model_.subject(), "the library shows other inputs or outputs than the file has");
    shapes_.clear();
    for (const int input : model_.main().inputs) shapes_.push_back(tensor(input).shape);
    return compiled_->make_buffers();
  }

  Status feed(const Order& order, uint64_t step, uint64_t steps) {
    const auto& ports = model_.main().inputs;
    bool resized = false;
    for (size_t i = 0; i < ports.size(); ++i) {
      PARITAS_ASSIGN(const Shape wanted,
                     tflite::shape_of_call(model_, ports[i], tflite::given_for(order, tensor(ports[i])), steps));
      if (wanted == shapes_[i]) continue;
      PARITAS_TRY(compiled_->resize(i, wanted));
      shapes_[i] = wanted;
      resized = true;
    }
    if (resized) PARITAS_TRY(compiled_->make_buffers());
    for (size_t i = 0; i < ports.size(); ++i) {
      const Tensor& given = tflite::given_for(order, tensor(ports[i]));
      const uint64_t size = given.bytes.size() / steps;
      PARITAS_TRY(
          compiled_->write(i, size, [&](std::span<std::byte> to) { return given.bytes.read(step * size, to); }));
    }
    return {};
  }

  // A delegate is shown as one operator of the interpreter's, under a name that no operator of the model has, or by its
  // own operators, or both.
  Result<std::vector<std::pair<std::string, uint64_t>>> count_calls() {
    PARITAS_ASSIGN(const auto events, compiled_->stop_profiling());
    uint64_t on_interpreter = 0, in_delegate = 0, of_delegate = 0;
    for (const auto& [tag, type] : events) {
      if (type == ProfilerEvent::kOperatorInDelegate)
        ++in_delegate;
      else if (operators_.count(tag) != 0)
        ++on_interpreter;
      else
        ++of_delegate;
    }
    const bool delegated = in_delegate + of_delegate > 0;
    if (!target_.capabilities.device && delegated)
      return runtime_error(model_.subject(), "kernels=builtin was asked for, and LiteRT ran a delegate",
                           "take another version of the library");
    if (target_.capabilities.device && !delegated && info_.fully_accelerated != true)
      return runtime_error(
          target_.spec.text,
          events.empty()
              ? "LiteRT shows no sign that a delegate took anything of the model"
              : fmt::format("the delegate took nothing: {} operators ran on LiteRT's interpreter", on_interpreter),
          "check the accelerator's plug-in and dispatch folders, and whether it supports this model");
    std::vector<std::pair<std::string, uint64_t>> calls;
    if (delegated) calls.emplace_back(kLitertDelegate, std::max(in_delegate, of_delegate));
    if (on_interpreter > 0) calls.emplace_back(kLitertInterpreter, on_interpreter);
    return calls;
  }

  Status keep_outputs(const std::vector<int>& fetch, uint64_t step) {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const int index = outputs_[i];
      if (std::find(fetch.begin(), fetch.end(), index) == fetch.end() || kept_.steps(index) > step) continue;
      PARITAS_TRY(compiled_->read(
          i, [&](const Shape& shape, std::span<const std::byte> bytes) { return kept_.keep(index, shape, bytes); }));
    }
    return {};
  }

  static std::set<std::string> operators_of(const Model& model) {
    std::set<std::string> names;
    for (const tflite::Graph& graph : model.graphs())
      for (const tflite::Op& op : graph.ops) names.insert(op.name);
    return names;
  }

  const Api& api_;
  const Model model_;  // as the user gave it
  const std::set<std::string> operators_ = operators_of(model_);
  const Target target_;
  Path file_;  // what runs: the user's file, or a copy
  Path scratch_;
  SessionInfo info_;
  std::vector<int> fetch_;
  std::vector<int> outputs_;  // of `file_`
  bool used_ = false;
  std::unique_ptr<Compiled> compiled_;
  std::vector<Shape> shapes_;  // of the inputs now
  tflite::KeptTensors kept_{model_};
};

class LitertBackend : public Backend {
 public:
  LitertBackend(Api api, Path scratch) : api_(std::move(api)), scratch_(std::move(scratch)) {}
  std::string version() const override { return api_.version; }
  Path path() const override { return api_.path; }

  Result<std::unique_ptr<BackendSession>> open(const SessionRequest& request, const Path&) override {
    PARITAS_ASSIGN(Model model, Model::load(request.model));
    auto session = std::make_unique<LitertSession>(api_, std::move(model), request, scratch_);
    PARITAS_TRY(session->open(request.fetch, opened_++));
    return session;
  }

 private:
  const Api api_;
  Path scratch_;
  int opened_ = 0;
};

}  // namespace

Result<std::unique_ptr<Backend>> load_backend(const Path& library, const Path& scratch) {
  PARITAS_ASSIGN(Api api, Api::load(library));
  return std::make_unique<LitertBackend>(std::move(api), scratch);
}

}  // namespace paritas::litert
