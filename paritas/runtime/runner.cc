#include "paritas/runtime/runner.h"

#include <cassert>

#include <fmt/format.h>

#include "paritas/runtime/sim/simulate.h"

namespace paritas {

Session::Session(Session&& other) noexcept
    : worker_(std::exchange(other.worker_, nullptr)), info_(std::move(other.info_)) {}

Session::~Session() {
  if (worker_ != nullptr) static_cast<void>(worker_->close(info_.id));  // a dead worker was reported already
}

Status Session::close() { return std::exchange(worker_, nullptr)->close(info_.id); }

Result<RunReply> Session::run(const std::vector<std::pair<std::string, Tensor>>& inputs,
                              const std::vector<std::string>& fetch) {
  return run_with_errors(inputs, fetch, {});
}

Result<RunReply> Session::run_with_errors(const std::vector<std::pair<std::string, Tensor>>& inputs,
                                          const std::vector<std::string>& fetch,
                                          const std::vector<std::pair<std::string, Tensor>>& differences) {
  RunRequest request;
  request.session = info_.id;
  request.inputs = inputs;
  request.fetch = fetch;
  request.add = differences;
  return worker_->run(request);
}

Result<Runner> Runner::start(const Target& target, const WorkerOptions& options) {
  PARITAS_ASSIGN(auto worker, Worker::start(options));
  return Runner(target, std::move(worker), options.scratch);
}

Result<Runner> Runner::start_in(const Path& folder, const std::string& role, const Target& target,
                                WorkerOptions options) {
  options.scratch = folder / role;
  std::error_code code;
  std::filesystem::create_directory(options.scratch, code);
  return start(target, options);
}

Result<Session> Runner::open(const onnx_model::Model& model, bool op_trace, const Path& profile_folder) {
  return open_with(model, op_trace, profile_folder, {});
}

Result<Session> Runner::open_hybrid(const onnx_model::Model& model, const std::unordered_set<std::string>& exact) {
  assert(makes_hybrids());
  return open_with(model, false, {}, exact);
}

Result<Session> Runner::open_with(const onnx_model::Model& model, bool op_trace, const Path& profile_folder,
                                  const std::unordered_set<std::string>& exact) {
  const Path folder = scratch_ / fmt::format("model-{}", opened_++);
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) return input_error(folder.string(), fmt::format("cannot be created: {}", code.message()));
  SessionRequest request;
  request.target = target_;
  request.op_trace = op_trace && target_.capabilities.op_trace;
  request.profile_folder = profile_folder;
  if (target_.simulate) {
    PARITAS_ASSIGN(auto simulated, simulate(model, *target_.simulate, folder, exact));
    PARITAS_ASSIGN(auto saved, simulated.save(folder));
    request.model = saved.model;
  } else {
    PARITAS_ASSIGN(auto saved, model.save(folder));
    request.model = saved.model;
  }
  auto info = worker_->open(request);
  std::filesystem::remove_all(folder, code);  // weights stay mapped while the session needs them
  if (!info) {
    Error error = std::move(info).error();
    if (error.subject == request.model.string()) error.subject = model.subject();  // not the edited copy in scratch
    return tl::make_unexpected(std::move(error));
  }
  return Session(worker_.get(), std::move(*info));
}

std::string unoptimised_note(const Target& target, const std::string& because) {
  return fmt::format(
      "{}: with optimisation \"{}\" ONNX Runtime refuses the model ({}); it ran with optimisation off, so what runs in "
      "the application may be another graph",
      target.spec.text, target.optimisation, because);
}

}  // namespace paritas
