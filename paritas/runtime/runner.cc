#include "paritas/runtime/runner.h"

#include <cassert>
#include <deque>
#include <mutex>

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/runtime/sim/simulate.h"

namespace paritas {

// Sessions that nobody uses at the moment, the one that was given up last in front.
class SessionShelf {
 public:
  SessionShelf(Worker* worker, size_t most) : worker_(worker), most_(most) {}

  std::optional<SessionInfo> take(const std::string& graph) {
    const std::lock_guard lock(mutex_);
    for (auto it = idle_.begin(); it != idle_.end(); ++it)
      if (it->first == graph) {
        SessionInfo info = std::move(it->second);
        idle_.erase(it);
        return info;
      }
    return std::nullopt;
  }

  void put(std::string graph, SessionInfo info) {
    const std::lock_guard lock(mutex_);
    idle_.emplace_front(std::move(graph), std::move(info));
    while (idle_.size() > most_) {
      static_cast<void>(worker_->close(idle_.back().second.id));
      idle_.pop_back();
    }
  }

 private:
  Worker* worker_;
  size_t most_;
  std::mutex mutex_;
  std::deque<std::pair<std::string, SessionInfo>> idle_;
};

namespace {

// What a session is opened from, by content. The folder that it lies in does not count.
Result<std::string> graph_key(const onnx_model::Model::Saved& saved, bool op_trace) {
  PARITAS_ASSIGN(std::string key, sha256_of_file(saved.model));
  if (saved.weight_bytes > 0) {
    Path weights = saved.model;
    PARITAS_ASSIGN(const std::string hash, sha256_of_file(weights.replace_extension(".weights")));
    key += hash;
  }
  return key + (op_trace ? "t" : "");
}

}  // namespace

Session::Session(Session&& other) noexcept
    : worker_(std::exchange(other.worker_, nullptr)),
      info_(std::move(other.info_)),
      shelf_(std::move(other.shelf_)),
      graph_(std::move(other.graph_)),
      failed_(other.failed_) {}

Session::~Session() {
  if (worker_ == nullptr) return;
  if (shelf_ && !failed_)
    shelf_->put(std::move(graph_), std::move(info_));
  else
    static_cast<void>(worker_->close(info_.id));  // a dead worker was reported already
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
  return send(request);
}

Result<RunReply> Session::run_steps(const std::vector<std::pair<std::string, Tensor>>& inputs, uint64_t steps,
                                    const std::vector<std::string>& fetch) {
  RunRequest request;
  request.session = info_.id;
  request.inputs = inputs;
  request.fetch = fetch;
  request.steps = steps;
  return send(request);
}

Result<RunReply> Session::send(const RunRequest& request) {
  auto reply = worker_->run(request);
  failed_ = failed_ || !reply;
  return reply;
}

Result<Runner> Runner::start(const Target& target, const WorkerOptions& options) {
  WorkerOptions of_target = options;
  of_target.runtime = target.runtime;
  of_target.library = target.runtime_library;
  PARITAS_ASSIGN(auto worker, Worker::start(of_target));
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

Result<Session> Runner::open_file(const Path& file, const std::vector<std::string>& fetch) {
  if (target_.simulate) {
    PARITAS_ASSIGN(const auto model, onnx_model::Model::load(file));
    return open(model);
  }
  SessionRequest request;
  request.model = std::filesystem::absolute(file);
  request.target = target_;
  request.fetch = fetch;
  PARITAS_ASSIGN(auto info, worker_->open(request));
  ++opened_;
  return Session(worker_.get(), std::move(info));
}

Result<Session> Runner::open_hybrid(const onnx_model::Model& model, const std::unordered_set<std::string>& exact) {
  assert(makes_hybrids());
  return open_with(model, false, {}, exact);
}

Result<Session> Runner::open_with(const onnx_model::Model& model, bool op_trace, const Path& profile_folder,
                                  const std::unordered_set<std::string>& exact) {
  const Path folder = scratch_ / fmt::format("model-{}", written_++);
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) return input_error(folder.string(), fmt::format("cannot be created: {}", code.message()));
  SessionRequest request;
  request.target = target_;
  request.op_trace = op_trace && target_.capabilities.op_trace;
  request.profile_folder = profile_folder;
  onnx_model::Model::Saved saved;
  if (target_.simulate) {
    PARITAS_ASSIGN(auto simulated, simulate(model, *target_.simulate, folder, exact));
    PARITAS_ASSIGN(saved, simulated.save(folder));
  } else {
    PARITAS_ASSIGN(saved, model.save(folder));
  }
  request.model = saved.model;
  std::string graph;
  if (shelf_ && profile_folder.empty()) {
    PARITAS_ASSIGN(graph, graph_key(saved, request.op_trace));
    if (auto kept = shelf_->take(graph)) {
      std::filesystem::remove_all(folder, code);
      Session session(worker_.get(), std::move(*kept));
      session.shelf_ = shelf_;
      session.graph_ = std::move(graph);
      return session;
    }
  }
  auto info = worker_->open(request);
  std::filesystem::remove_all(folder, code);  // weights stay mapped while the session needs them
  if (!info) {
    Error error = std::move(info).error();
    if (error.subject == request.model.string()) error.subject = model.subject();  // not the edited copy in scratch
    return tl::make_unexpected(std::move(error));
  }
  ++opened_;
  Session session(worker_.get(), std::move(*info));
  if (!graph.empty()) {
    session.shelf_ = shelf_;
    session.graph_ = std::move(graph);
  }
  return session;
}

void Runner::keep_sessions(size_t most) { shelf_ = std::make_shared<SessionShelf>(worker_.get(), most); }

std::string unoptimised_note(const Target& target, const std::string& because) {
  return fmt::format(
      "{}: with optimisation \"{}\" ONNX Runtime refuses the model ({}); it ran with optimisation off, so what runs in "
      "the application may be another graph",
      target.spec.text, target.optimisation, because);
}

}  // namespace paritas
