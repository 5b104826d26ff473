#include "paritas/runtime/ort/chain.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/runtime/ort/session_impl.h"
#include "paritas/runtime/ort/values.h"

namespace paritas::ort {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A session with everything that a run needs: during the runs nothing is looked up by name.
struct Stage {
  const std::string* subject = nullptr;
  const std::string* target = nullptr;
  OrtSession* session = nullptr;
  std::vector<const char*> input_names, output_names;
  std::vector<size_t> inputs, outputs;  // slots
};

bool has_port(const std::vector<PortInfo>& ports, const std::string& name) {
  return std::any_of(ports.begin(), ports.end(), [&](const PortInfo& port) { return port.name == name; });
}

}  // namespace

// Every tensor of the chain has a slot.
class Chain {
 public:
  explicit Chain(const TimeRequest& request) : request_(request) {}

  Status plan(const std::vector<Session*>& sessions) {
    for (const auto& [name, tensor] : request_.inputs) {
      PARITAS_ASSIGN(const size_t slot, make_slot(name));
      PARITAS_ASSIGN(Fed fed, feed(tensor));
      fed_.push_back(std::move(fed));
      values_[slot] = std::move(fed_.back().value);
    }
    first_output_ = values_.size();
    for (size_t i = 0; i < sessions.size(); ++i) PARITAS_TRY(plan_stage(request_.chain[i], *sessions[i]));
    for (const std::string& name : request_.fetch) {
      const auto slot = slots_.find(name);
      if (slot == slots_.end() || slot->second < first_output_)
        return input_error("chain", fmt::format("no session of it makes the tensor \"{}\"", name));
      fetch_.push_back(slot->second);
    }
    for (const auto& [name, tensor] : request_.against) {
      const auto slot = slots_.find(name);
      if (slot == slots_.end() || slot->second < first_output_)
        return input_error("chain", fmt::format("no session of it makes the tensor \"{}\"", name));
      PARITAS_ASSIGN(TensorView view, TensorView::of(tensor));
      against_.emplace_back(slot->second, std::move(view));
    }
    return {};
  }

  Result<TimedRun> run() {
    forget_outputs();
    TimedRun timed;
    timed.stages.reserve(stages_.size());
    const auto start = Clock::now();
    auto end = start;
    for (const Stage& stage : stages_) {
      const auto begin = Clock::now();
      PARITAS_TRY(run_stage(stage));
      end = Clock::now();
      timed.stages.push_back(seconds_between(begin, end));
    }
    timed.chain = seconds_between(start, end);
    return timed;
  }

  // What was fetched, out of the slots.
  std::vector<Ort::Value> take_fetched() {
    std::vector<Ort::Value> taken;
    for (size_t slot : fetch_) taken.push_back(std::move(values_[slot]));
    return taken;
  }

  Result<bool> equal_to_expected() const {
    for (const auto& [slot, view] : against_) {
      PARITAS_ASSIGN(const StoredOutput output, describe_output("", values_[slot], "chain"));
      if (output.dtype != view.dtype() || output.shape != view.shape()) return false;
      const auto bytes = view.bytes();
      if (!bytes.empty() && std::memcmp(bytes.data(), values_[slot].GetTensorRawData(), bytes.size()) != 0)
        return false;
    }
    return true;
  }
  bool compares() const { return !against_.empty(); }

 private:
  Result<size_t> make_slot(const std::string& name) {
    if (!slots_.emplace(name, values_.size()).second)
      return input_error("chain", fmt::format("the tensor \"{}\" is made twice", name));
    values_.emplace_back(nullptr);
    return values_.size() - 1;
  }

  Status plan_stage(const ChainLink& link, Session& session) {
    Session::Impl& impl = *session.impl_;
    Stage stage;
    stage.subject = &impl.subject;
    stage.target = &impl.target;
    stage.session = impl.session;
    for (const auto& [port, tensor] : link.inputs) {
      const auto slot = slots_.find(tensor);
      if (slot == slots_.end())
        return input_error(impl.subject,
                           fmt::format("its input \"{}\" reads \"{}\", which nothing before it makes", port, tensor));
      if (!has_port(impl.info.inputs, port)) return input_error(impl.subject, fmt::format("has no input \"{}\"", port));
      stage.input_names.push_back(port.c_str());
      stage.inputs.push_back(slot->second);
    }
    for (const PortInfo& port : impl.info.inputs)
      if (std::count_if(link.inputs.begin(), link.inputs.end(),
                        [&](const auto& pair) { return pair.first == port.name; }) != 1)
        return input_error(impl.subject, fmt::format("the input \"{}\" must be given once", port.name),
                           "give a tensor for it");
    for (const auto& [port, tensor] : link.outputs) {
      if (!has_port(impl.info.outputs, port))
        return input_error(impl.subject, fmt::format("has no output \"{}\"", port));
      PARITAS_ASSIGN(const size_t slot, make_slot(tensor));
      stage.output_names.push_back(port.c_str());
      stage.outputs.push_back(slot);
    }
    if (link.outputs.empty()) return input_error(impl.subject, "nothing is asked of it");
    stages_.push_back(std::move(stage));
    return {};
  }

  // An application lets go of its last results before it asks for new ones.
  void forget_outputs() {
    for (size_t slot = first_output_; slot < values_.size(); ++slot) values_[slot] = Ort::Value(nullptr);
  }

  Status run_stage(const Stage& stage) {
    return guarded(*stage.subject, fmt::format("running on {}", *stage.target), [&]() -> Status {
      std::vector<const OrtValue*> inputs;
      for (size_t slot : stage.inputs) inputs.push_back(values_[slot]);
      std::vector<OrtValue*> outputs(stage.outputs.size(), nullptr);
      Ort::ThrowOnError(Ort::GetApi().Run(stage.session, nullptr, stage.input_names.data(), inputs.data(),
                                          inputs.size(), stage.output_names.data(), outputs.size(), outputs.data()));
      for (size_t i = 0; i < outputs.size(); ++i) values_[stage.outputs[i]] = Ort::Value(outputs[i]);
      return {};
    });
  }

  const TimeRequest& request_;
  std::map<std::string, size_t> slots_;
  std::vector<Ort::Value> values_;  // by slot; the inputs' stay, the others are made anew by every run
  size_t first_output_ = 0;
  std::vector<Fed> fed_;
  std::vector<Stage> stages_;
  std::vector<size_t> fetch_;
  std::vector<std::pair<size_t, TensorView>> against_;
};

namespace {

Result<ChainTimes> measure(Chain& chain, const TimeRequest& request, const Path& first_file, const Path& last_file) {
  const double cpu_before = cpu_seconds();
  for (int i = 0; i < request.warm_up; ++i) PARITAS_TRY(chain.run());
  ChainTimes times;
  std::vector<Ort::Value> first, last;
  const auto start = Clock::now();
  for (int i = 0; i < request.runs; ++i) {
    if (i > 0 && request.seconds > 0 && seconds_between(start, Clock::now()) >= request.seconds) break;
    PARITAS_ASSIGN(TimedRun run, chain.run());
    if (chain.compares()) {
      PARITAS_ASSIGN(const bool equal, chain.equal_to_expected());
      if (!equal && times.differing++ == 0) times.first_differing = times.runs.size();
    }
    times.runs.push_back(std::move(run));
    if (i == 0) first = chain.take_fetched();
  }
  times.cpu_seconds = cpu_seconds() - cpu_before;
  if (times.runs.size() > 1) last = chain.take_fetched();
  PARITAS_ASSIGN(times.first, store(request.fetch, first, first_file, "chain"));
  if (times.runs.size() > 1) {
    PARITAS_ASSIGN(times.last, store(request.fetch, last, last_file, "chain"));
  }
  return times;
}

}  // namespace

Result<ChainTimes> time_chain(const std::vector<Session*>& sessions, const TimeRequest& request, const Path& first_file,
                              const Path& last_file) {
  return guarded("chain", "running it", [&]() -> Result<ChainTimes> {
    if (sessions.empty()) return input_error("chain", "it has no session");
    if (request.runs < 1 || request.runs > kMostTimedRuns || request.warm_up < 0)
      return input_error("chain", fmt::format("{} runs cannot be timed", request.runs),
                         fmt::format("ask for 1 to {}", kMostTimedRuns));
    Chain chain(request);
    PARITAS_TRY(chain.plan(sessions));
    return measure(chain, request, first_file, last_file);
  });
}

}  // namespace paritas::ort
