#include "paritas/runtime/tflite/session.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "paritas/runtime/tflite/calls.h"
#include "paritas/runtime/tflite/interpreter.h"
#include "paritas/tflite/model.h"
#include "paritas/tflite/promote.h"

namespace paritas::tflite {
namespace {

class TfliteSession : public BackendSession {
 public:
  TfliteSession(const Api& api, Model model, const SessionRequest& request, const Path& scratch)
      : api_(api), model_(std::move(model)), target_(request.target), file_(request.model), scratch_(scratch) {}

  ~TfliteSession() override {
    interpreter_.reset();
    std::error_code ignored;
    if (file_ != model_.path()) std::filesystem::remove(file_, ignored);
  }

  const SessionInfo& info() const override { return info_; }

  Status open(const std::vector<std::string>& fetch, int number) {
    const auto start = std::chrono::steady_clock::now();
    PARITAS_ASSIGN(fetch_, chosen_tensors(model_, fetch));
    const std::vector<int> intermediates = beyond_outputs(model_, fetch_);
    const bool chosen = target_.kernels != "default";
    const bool delegated = target_.xnnpack || !target_.provider_library.empty();
    tapping_ = !intermediates.empty() && chosen && !delegated && api_.interpreter_tensor != nullptr;
    if (chosen) {
      PARITAS_ASSIGN(kernels_, Kernels::make(api_, target_.kernels == "reference", tapping_));
    }
    if (!intermediates.empty() && !tapping_) {
      file_ = scratch_ / fmt::format("promoted-{}.tflite", number);
      PARITAS_TRY(promote(model_, intermediates, file_));
      promoted_ = intermediates;
    }
    PARITAS_TRY(renew());
    describe();
    info_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return {};
  }

  Result<Ran> run(const Order& order, const Path& file) override {
    PARITAS_TRY(check_ports(order.inputs, info_, model_.subject()));
    if (!order.injection.replace.empty() || !order.injection.add.empty())
      return usage_error(model_.subject(), "errors cannot be put into TFLite models");
    PARITAS_ASSIGN(const std::vector<int> fetch, tensors_of_run(model_, order.fetch, fetch_));
    if (used_ && (model_.stateful() || order.steps > 0)) PARITAS_TRY(renew());
    used_ = true;
    kept_.clear();
    Ran ran;
    const uint64_t steps = std::max<uint64_t>(order.steps, 1);
    for (uint64_t step = 0; step < steps; ++step) {
      PARITAS_TRY(feed(order, step, steps));
      PARITAS_TRY(call(fetch, step, ran.seconds));
    }
    PARITAS_ASSIGN(ran.outputs, kept_.store(fetch, steps, file));
    kept_.clear();
    return ran;
  }

 private:
  const GraphTensor& tensor(int index) const { return model_.main().tensors[static_cast<size_t>(index)]; }

  Status renew() {
    interpreter_.reset();
    PARITAS_ASSIGN(interpreter_, Interpreter::make(api_, file_, target_, kernels_.get()));
    const auto expected = static_cast<int32_t>(model_.main().inputs.size());
    const auto outputs = static_cast<int32_t>(model_.main().outputs.size() + promoted_.size());
    if (api_.input_count(interpreter_->handle()) != expected || api_.output_count(interpreter_->handle()) != outputs)
      return runtime_error(model_.subject(), "the library shows other inputs or outputs than the file has");
    shapes_.clear();
    for (const int input : model_.main().inputs) shapes_.push_back(tensor(input).shape);
    return {};
  }

  void describe() {
    for (const int input : model_.main().inputs) info_.inputs.push_back(port_of(tensor(input)));
    for (const int output : fetch_) info_.outputs.push_back(port_of(tensor(output)));
    const Plan& plan = interpreter_->plan();
    if (!plan.known) return;
    const auto& ops = model_.main().ops;
    std::vector<AssignedNode> nodes(ops.size());
    const auto place = [&](int op, const std::string& where, int partition) {
      if (op < 0 || static_cast<size_t>(op) >= ops.size()) return;
      const Op& known = ops[static_cast<size_t>(op)];
      nodes[static_cast<size_t>(op)] = {known.label(), known.name, where, partition};
    };
    for (const int op : plan.on_host) place(op, target_.host_kernels(), -1);
    for (size_t i = 0; i < plan.partitions.size(); ++i) {
      const Partition& partition = plan.partitions[i];
      // XNNPACK tells its name; what an external delegate calls itself is its own affair.
      const bool xnnpack = target_.xnnpack && partition.delegate == kXnnpackName;
      const std::string where = xnnpack ? kXnnpackName : target_.provider;
      if (where == target_.provider) ++info_.partitions;
      for (const int op : partition.ops) place(op, where, static_cast<int>(i));
    }
    for (AssignedNode& node : nodes)
      if (!node.name.empty()) info_.assignment.push_back(std::move(node));
  }

  Status feed(const Order& order, uint64_t step, uint64_t steps) {
    bool resized = false;
    const auto& ports = model_.main().inputs;
    std::vector<const Tensor*> given(ports.size());
    for (size_t i = 0; i < ports.size(); ++i) {
      given[i] = &given_for(order, tensor(ports[i]));
      PARITAS_ASSIGN(const Shape wanted, shape_of_call(model_, ports[i], *given[i], steps));
      if (wanted == shapes_[i]) continue;
      PARITAS_TRY(interpreter_->resize(static_cast<int>(i), {wanted.begin(), wanted.end()}));
      shapes_[i] = wanted;
      resized = true;
    }
    if (resized) PARITAS_TRY(interpreter_->allocate());
    for (size_t i = 0; i < ports.size(); ++i) {
      void* to = api_.input_tensor(interpreter_->handle(), static_cast<int32_t>(i));
      const uint64_t size = given[i]->bytes.size() / steps;
      if (to == nullptr || api_.tensor_bytes(to) != size || (size > 0 && api_.tensor_data(to) == nullptr))
        return runtime_error(model_.subject(),
                             fmt::format("the library does not take {} bytes for \"{}\"", size, tensor(ports[i]).id));
      PARITAS_TRY(given[i]->bytes.read(step * size, {static_cast<std::byte*>(api_.tensor_data(to)), size}));
    }
    return {};
  }

  Status call(const std::vector<int>& fetch, uint64_t step, double& seconds) {
    Status kept;  // what went wrong within the tap
    if (tapping_)
      Kernels::set_tap([&](void* context, const IntArray& outputs) {
        const void* first = api_.interpreter_tensor(interpreter_->handle(), 0);
        if (static_cast<const LeadingContext*>(context)->tensors != first) return;  // of a graph inside the main one
        for (int i = 0; i < outputs.size; ++i) {
          const int index = outputs.data[i];
          if (!kept || std::find(fetch.begin(), fetch.end(), index) == fetch.end()) continue;
          kept = keep(index, api_.interpreter_tensor(interpreter_->handle(), index));
        }
      });
    const auto start = std::chrono::steady_clock::now();
    const Status ran = interpreter_->invoke();
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    Kernels::set_tap({});
    PARITAS_TRY(ran);
    PARITAS_TRY(kept);
    const auto& outputs = model_.main().outputs;
    for (size_t i = 0; i < outputs.size() + promoted_.size(); ++i) {
      const int index = i < outputs.size() ? outputs[i] : promoted_[i - outputs.size()];
      if (std::find(fetch.begin(), fetch.end(), index) == fetch.end()) continue;
      if (kept_.steps(index) > step) continue;  // the tap had it
      PARITAS_TRY(keep(index, api_.output_tensor(interpreter_->handle(), static_cast<int32_t>(i))));
    }
    return {};
  }

  Status keep(int index, const void* from) {
    const GraphTensor& t = tensor(index);
    if (from == nullptr)
      return runtime_error(model_.subject(), fmt::format("the library shows no tensor \"{}\"", t.id));
    Shape shape;
    for (int32_t i = 0; i < api_.tensor_rank(from); ++i) shape.push_back(api_.tensor_dim(from, i));
    const size_t size = api_.tensor_bytes(from);
    const auto* data = static_cast<const std::byte*>(api_.tensor_data(from));
    if (size > 0 && data == nullptr) return runtime_error(model_.subject(), fmt::format("\"{}\" has no data", t.id));
    return kept_.keep(index, shape, {data, size});
  }

  const Api& api_;
  const Model model_;  // as the user gave it
  const Target target_;
  Path file_;  // what runs: the user's file, or a copy with more outputs
  Path scratch_;
  SessionInfo info_;
  std::vector<int> fetch_;
  std::vector<int> promoted_;  // outputs of `file_` behind the model's own
  bool tapping_ = false;
  bool used_ = false;
  std::unique_ptr<Kernels> kernels_;
  std::unique_ptr<Interpreter> interpreter_;
  std::vector<Shape> shapes_;  // of the inputs now
  KeptTensors kept_{model_};
};

class TfliteBackend : public Backend {
 public:
  TfliteBackend(Api api, Path scratch) : api_(api), scratch_(std::move(scratch)) {}
  std::string version() const override { return api_.version(); }
  Path path() const override { return api_.path; }

  Result<std::unique_ptr<BackendSession>> open(const SessionRequest& request, const Path&) override {
    PARITAS_ASSIGN(Model model, Model::load(request.model));
    auto session = std::make_unique<TfliteSession>(api_, std::move(model), request, scratch_);
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
  PARITAS_ASSIGN(const Api api, Api::load(library));
  return std::make_unique<TfliteBackend>(api, scratch);
}

}  // namespace paritas::tflite
