#include "paritas/runtime/tflite/session.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "paritas/runtime/tflite/interpreter.h"
#include "paritas/tflite/model.h"
#include "paritas/tflite/promote.h"

namespace paritas::tflite {
namespace {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
constexpr uint64_t kAlignment = 64;

// What the calls of one run left of a tensor: of every step, one behind the other.
struct Kept {
  Shape shape;  // of one step
  std::vector<std::byte> bytes;
  uint64_t steps = 0;
};

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
    for (const std::string& id : fetch) {
      PARITAS_ASSIGN(const int index, find(id));
      fetch_.push_back(index);
    }
    if (fetch_.empty()) fetch_ = model_.main().outputs;
    const std::vector<int> intermediates = beyond_outputs();
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
    std::vector<int> fetch = fetch_;
    if (!order.fetch.empty()) {
      fetch.clear();
      for (const std::string& id : order.fetch) {
        PARITAS_ASSIGN(const int index, find(id));
        if (std::find(fetch_.begin(), fetch_.end(), index) == fetch_.end())
          return input_error(model_.subject(), fmt::format("\"{}\" was not asked for when the session was opened", id));
        fetch.push_back(index);
      }
    }
    if (used_ && (model_.stateful() || order.steps > 0)) PARITAS_TRY(renew());
    used_ = true;
    kept_.clear();
    Ran ran;
    const uint64_t steps = std::max<uint64_t>(order.steps, 1);
    for (uint64_t step = 0; step < steps; ++step) {
      PARITAS_TRY(feed(order.inputs, step, steps));
      PARITAS_TRY(call(fetch, step, ran.seconds));
    }
    PARITAS_ASSIGN(ran.outputs, store(fetch, steps, file));
    kept_.clear();
    return ran;
  }

 private:
  const GraphTensor& tensor(int index) const { return model_.main().tensors[static_cast<size_t>(index)]; }

  Result<int> find(const std::string& id) const {
    const auto index = model_.main().find(id);
    if (!index) return input_error(model_.subject(), fmt::format("has no tensor \"{}\"", id), "paritas inspect lists them");
    if (!tensor(*index).dtype)
      return input_error(model_.subject(),
                         fmt::format("\"{}\" is of type {}, which is not handled", id, tensor(*index).type_name));
    return *index;
  }

  std::vector<int> beyond_outputs() const {
    const auto& outputs = model_.main().outputs;
    std::vector<int> result;
    for (const int index : fetch_)
      if (std::find(outputs.begin(), outputs.end(), index) == outputs.end()) result.push_back(index);
    return result;
  }

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
    const auto port = [&](int index) {
      const GraphTensor& t = tensor(index);
      return PortInfo{t.id, t.dtype, t.shape_signature.empty() ? t.shape : Shape(t.shape_signature)};
    };
    for (const int input : model_.main().inputs) info_.inputs.push_back(port(input));
    for (const int output : fetch_) info_.outputs.push_back(port(output));
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

  Status feed(const NamedTensors& inputs, uint64_t step, uint64_t steps) {
    bool resized = false;
    const auto& ports = model_.main().inputs;
    std::vector<const Tensor*> given(ports.size());
    for (size_t i = 0; i < ports.size(); ++i) {
      const std::string& id = tensor(ports[i]).id;
      given[i] = &std::find_if(inputs.begin(), inputs.end(), [&](const auto& each) { return each.first == id; })->second;
      PARITAS_ASSIGN(const Shape wanted, shape_of_step(*given[i], ports[i], steps));
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
        return runtime_error(model_.subject(), fmt::format("the library does not take {} bytes for \"{}\"", size,
                                                           tensor(ports[i]).id));
      PARITAS_TRY(given[i]->bytes.read(step * size, {static_cast<std::byte*>(api_.tensor_data(to)), size}));
    }
    return {};
  }

  // The shape of one call's part of an input; an error where the model cannot take it.
  Result<Shape> shape_of_step(const Tensor& given, int index, uint64_t steps) const {
    const GraphTensor& port = tensor(index);
    Shape shape = given.shape;
    const auto refuse = [&] {
      const std::string declared = to_string(port.shape_signature.empty() ? port.shape : Shape(port.shape_signature));
      return input_error(model_.subject(),
                         fmt::format("input \"{}\" {} cannot take a tensor of shape {}{}", port.id, declared,
                                     to_string(given.shape), steps > 1 ? fmt::format(" in {} steps", steps) : ""));
    };
    if (port.dtype != given.dtype)
      return input_error(model_.subject(), fmt::format("input \"{}\" must be {}, the given tensor is {}", port.id,
                                                       port.type_name, name(given.dtype)));
    if (steps > 1) {
      if (shape.empty() || shape[0] % static_cast<int64_t>(steps) != 0) return refuse();
      shape[0] /= static_cast<int64_t>(steps);
    }
    if (shape.size() != port.shape.size()) return refuse();
    for (size_t i = 0; i < shape.size(); ++i) {
      const bool free = i < port.shape_signature.size() && port.shape_signature[i] == -1;
      if (!free && shape[i] != port.shape[i]) return refuse();
    }
    return shape;
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
      if (kept_[index].steps > step) continue;  // the tap had it
      PARITAS_TRY(keep(index, api_.output_tensor(interpreter_->handle(), static_cast<int32_t>(i))));
    }
    return {};
  }

  Status keep(int index, const void* from) {
    const GraphTensor& t = tensor(index);
    if (from == nullptr) return runtime_error(model_.subject(), fmt::format("the library shows no tensor \"{}\"", t.id));
    Shape shape;
    for (int32_t i = 0; i < api_.tensor_rank(from); ++i) shape.push_back(api_.tensor_dim(from, i));
    PARITAS_ASSIGN(const uint64_t count, element_count(shape));
    const uint64_t size = byte_size(*t.dtype, count);
    const void* data = api_.tensor_data(from);
    if (api_.tensor_bytes(from) != size || (size > 0 && data == nullptr))
      return runtime_error(model_.subject(), fmt::format("\"{}\" has {} bytes where its shape {} takes {}", t.id,
                                                         api_.tensor_bytes(from), to_string(shape), size));
    Kept& kept = kept_[index];
    if (kept.steps > 0 && kept.shape != shape)
      return input_error(model_.subject(), fmt::format("\"{}\" changes its shape from step to step, from {} to {}", t.id,
                                                       to_string(kept.shape), to_string(shape)));
    kept.shape = shape;
    ++kept.steps;
    const auto* bytes = static_cast<const std::byte*>(data);
    kept.bytes.insert(kept.bytes.end(), bytes, bytes + size);
    return {};
  }

  Result<std::vector<StoredOutput>> store(const std::vector<int>& fetch, uint64_t steps, const Path& path) {
    PARITAS_ASSIGN(AtomicFile file, AtomicFile::create(path, /*overwrite=*/true));
    static constexpr std::byte kPadding[kAlignment] = {};
    std::vector<StoredOutput> outputs;
    for (const int index : fetch) {
      const auto found = kept_.find(index);
      if (found == kept_.end() || found->second.steps != steps)
        return runtime_error(model_.subject(),
                             fmt::format("\"{}\" was not written in every call: the library left its operator out",
                                         tensor(index).id));
      if (const uint64_t over = file.written() % kAlignment; over != 0)
        PARITAS_TRY(file.write(std::span(kPadding).first(kAlignment - over)));
      StoredOutput output{tensor(index).id, *tensor(index).dtype, found->second.shape, file.written()};
      if (steps > 1) {
        if (output.shape.empty()) output.shape.push_back(1);
        output.shape[0] *= static_cast<int64_t>(steps);
      }
      PARITAS_TRY(file.write(found->second.bytes));
      outputs.push_back(std::move(output));
    }
    PARITAS_TRY(file.commit());
    return outputs;
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
  std::unordered_map<int, Kept> kept_;
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
