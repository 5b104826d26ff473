#include "paritas/delivery/bench.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/compare/compare.h"
#include "paritas/delivery/bench_explain.h"
#include "paritas/delivery/bench_history.h"
#include "paritas/delivery/bench_judge.h"
#include "paritas/delivery/bench_lane.h"
#include "paritas/delivery/bench_machine.h"
#include "paritas/locate/sample_source.h"
#include "paritas/runtime/run_info.h"
#include "paritas/runtime/runner.h"

namespace paritas {
namespace {

// Rounds of two subjects alternate so often.
constexpr int kAlternations = 5;

std::string joined(const std::vector<BenchStage>& stages, const std::function<std::string(const BenchStage&)>& text) {
  std::vector<std::string> words;
  for (const BenchStage& stage : stages) words.push_back(text(stage));
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string performance_of(const BenchStage& stage) {
  std::vector<std::string> words;
  for (const auto& [key, value] : stage.target.capabilities.fastest)
    if (const auto set = stage.target.provider_options.find(key); set != stage.target.provider_options.end())
      words.push_back(fmt::format("{}={}", key, set->second));
  return words.empty() ? "-" : fmt::format("{}", fmt::join(words, ","));
}

Result<BenchConditions> conditions_of(const BenchRequest& request, const BenchSubject& subject,
                                      const RuntimeIdentity& identity) {
  BenchConditions c;
  const auto& stages = subject.stages;
  c.target = joined(stages, [](const BenchStage& s) { return s.target.spec.text; });
  c.threads = joined(stages, [](const BenchStage& s) { return std::to_string(s.target.threads); });
  c.inter_threads = joined(stages, [](const BenchStage& s) { return std::to_string(s.target.inter_threads); });
  c.mode = joined(stages, [](const BenchStage& s) { return s.target.parallel ? "parallel" : "sequential"; });
  c.performance = joined(stages, performance_of);
  c.optimisation = joined(stages, [](const BenchStage& s) { return s.target.optimisation; });
  c.runtime = fmt::format("{} {}", identity.version, identity.sha256);
  c.provider = identity.provider_library_sha256;
  c.host = host_summary();
  c.cpu = cpu_model();
  c.tool_version = request.tool_version;
  PARITAS_ASSIGN(c.inputs_sha256, sha256_of_inputs(subject.inputs));
  c.emulated =
      std::any_of(stages.begin(), stages.end(), [](const BenchStage& s) { return s.target.capabilities.emulated; });
  return c;
}

class Bench {
 public:
  explicit Bench(const BenchRequest& request) : request_(request) {}

  Result<BenchResult> run() {
    const auto start = std::chrono::steady_clock::now();
    PARITAS_TRY(check());
    PARITAS_ASSIGN(const History history, load_history(request_.history));
    PARITAS_ASSIGN(ScratchFolder scratch, ScratchFolder::create(request_.scratch_root));
    folder_ = scratch.path();
    result_.date = utc_now();
    result_.warm_up = request_.warm_up;
    result_.runs = request_.runs;
    result_.sides.resize(request_.subjects.size());
    last_.resize(request_.subjects.size());
    for_cycles_.resize(request_.subjects.size());
    PARITAS_TRY(time_all());
    PARITAS_TRY(count_cycles());
    for (size_t i = 0; i < request_.subjects.size(); ++i) PARITAS_TRY(judge(i));
    conclude(history);
    PARITAS_TRY(add_to_history());
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

 private:
  Status check() {
    if (request_.subjects.empty() || request_.subjects.size() > 2)
      return usage_error("bench", fmt::format("{} subjects were given", request_.subjects.size()), "give one or two");
    if (request_.subjects.size() == 2 && request_.endure > 0)
      return usage_error("--endure", "takes one subject", "let each endure in a call of its own");
    if (request_.runs < 1 || request_.runs > kMostTimedRuns || request_.warm_up < 0)
      return usage_error("--runs", fmt::format("{} runs after {} cannot be timed", request_.runs, request_.warm_up),
                         fmt::format("give 1 to {}", kMostTimedRuns));
    // Gates that fit nothing are told before anything runs. A package's own were checked when it was made.
    if (request_.gates.empty()) return {};
    for (const BenchSubject& subject : request_.subjects) {
      std::vector<GateSubject> outputs;
      for (const std::string& output : subject.outputs) {
        const auto role = subject.roles.find(output);
        outputs.emplace_back(output, Role::kOutput, role == subject.roles.end() ? "" : role->second, std::nullopt);
      }
      PARITAS_TRY(check_gates_match(request_.gates, outputs));
    }
    return {};
  }

  void stage(const std::string& text) const {
    if (request_.progress) request_.progress(text);
  }

  Path folder_of(size_t i, const char* what) const { return folder_ / fmt::format("{}-{}", what, i); }

  // Only sessions of what is timed are alive in here.
  Status time_all() {
    std::vector<BenchLane> lanes;
    for (size_t i = 0; i < request_.subjects.size(); ++i) {
      stage(fmt::format("opening {}", request_.subjects[i].name));
      PARITAS_ASSIGN(BenchLane lane,
                     BenchLane::open(request_.subjects[i], request_.worker, folder_of(i, "timed"), result_.sides[i]));
      lanes.push_back(std::move(lane));
    }
    PARITAS_TRY(run_rounds(lanes));
    for (size_t i = 0; i < lanes.size(); ++i) {
      BenchSide& side = result_.sides[i];
      side.peak = lanes[i].peak();
      PARITAS_TRY(endure(lanes[i], i));
      for_cycles_[i] = request_.subjects[i].inputs;
      if (const auto wanted = tensors_for_cycles(request_.subjects[i]); !wanted.empty()) {
        PARITAS_ASSIGN(const NamedTensors handed_over, lanes[i].fetch(wanted));
        for_cycles_[i].insert(for_cycles_[i].end(), handed_over.begin(), handed_over.end());
      }
      PARITAS_ASSIGN(side.conditions, conditions_of(request_, request_.subjects[i], lanes[i].identity()));
    }
    return {};
  }

  Status run_rounds(std::vector<BenchLane>& lanes) {
    const int rounds = lanes.size() == 1 ? 1 : std::min(kAlternations, request_.runs);
    first_.resize(lanes.size());
    const MachineSnapshot before = machine_snapshot();
    for (int round = 0; round < rounds; ++round) {
      const int runs = request_.runs / rounds + (round < request_.runs % rounds ? 1 : 0);
      for (size_t turn = 0; turn < lanes.size(); ++turn) {
        const size_t i = round % 2 == 0 ? turn : lanes.size() - 1 - turn;  // A B, B A, A B, ...: drift falls on both
        stage(fmt::format("timing {}, round {} of {}", request_.subjects[i].name, round + 1, rounds));
        BenchSide& side = result_.sides[i];
        PARITAS_ASSIGN(TimeReply reply, lanes[i].measure(request_.warm_up, runs, side));
        side.rounds.push_back(std::move(reply.runs));
        if (round == 0) first_[i] = std::move(reply.first);
        last_[i] = std::move(reply.last);
      }
    }
    const MachineSnapshot after = machine_snapshot();
    double worker_seconds = 0;
    for (const BenchLane& lane : lanes) worker_seconds += lane.cpu_seconds();
    for (size_t i = 0; i < lanes.size(); ++i) {
      PARITAS_TRY(take_figures(i));
      take_use(before, after, worker_seconds, i);
    }
    return {};
  }

  Status take_figures(size_t i) {
    BenchSide& side = result_.sides[i];
    std::vector<double> chain, hand_over;
    std::vector<std::vector<double>> stages(side.stages.size());
    for (const auto& round : side.rounds)
      for (const TimedRun& run : round) {
        chain.push_back(run.chain);
        double inside = 0;
        for (size_t s = 0; s < run.stages.size(); ++s) {
          stages[s].push_back(run.stages[s]);
          inside += run.stages[s];
        }
        hand_over.push_back(std::max(0.0, run.chain - inside));
      }
    for (size_t s = 0; s < stages.size(); ++s) side.stages[s].run = time_figures(std::move(stages[s]));
    side.chain = time_figures(chain);
    side.hand_over = time_figures(std::move(hand_over));
    seconds_.push_back(std::move(chain));
    for (size_t k = 0; k < first_[i].size(); ++k) {
      PARITAS_ASSIGN(const bool equal, equal_bytes(first_[i][k].second, last_[i][k].second));
      side.repeats = side.repeats && equal;
    }
    return {};
  }

  void take_use(const MachineSnapshot& before, const MachineSnapshot& after, double worker_seconds, size_t i) {
    BenchSide& side = result_.sides[i];
    side.use.seconds = after.at - before.at;
    side.use.cores = after.times ? after.times->cores : 0;
    side.use.others = busy_others(before, after, worker_seconds);
    side.use.load_before = before.load_average;
    side.use.load_after = after.load_average;
    for (const BenchStage& stage : request_.subjects[i].stages)
      side.use.threads =
          std::max(side.use.threads, stage.target.threads * (stage.target.parallel ? stage.target.inter_threads : 1));
    side.noise = judge_noise(seconds_[i], side.use);
  }

  Status endure(BenchLane& lane, size_t i) {
    if (request_.endure <= 0) return {};
    Endurance& endurance = result_.sides[i].endurance.emplace();
    return lane.endure(request_.endure, first_[i], endurance,
                       [&](double left) { stage(fmt::format("enduring, {:.0f} s left", left)); });
  }

  Status count_cycles() {
    for (size_t i = 0; i < request_.subjects.size(); ++i) {
      const BenchSubject& subject = request_.subjects[i];
      if (std::none_of(subject.stages.begin(), subject.stages.end(),
                       [](const BenchStage& s) { return s.target.capabilities.cycle_profile; }))
        continue;
      stage(fmt::format("cycles of {}", subject.name));
      PARITAS_TRY(estimate_cycles(subject, for_cycles_[i], request_.worker, folder_of(i, "cycles"), result_.sides[i]));
    }
    return {};
  }

  Status judge(size_t i) {
    const BenchSubject& subject = request_.subjects[i];
    BenchSide& side = result_.sides[i];
    side.notes.insert(side.notes.begin(), subject.notes.begin(), subject.notes.end());
    stage(fmt::format("reference of {}", subject.name));
    PARITAS_ASSIGN(BenchJudgement judged, judge_outputs(request_, subject, last_[i], folder_of(i, "judged")));
    side.verdict = judged.verdict;
    side.reasons = std::move(judged.reasons);
    side.comparison = std::move(judged.comparison);
    side.notes.insert(side.notes.end(), judged.notes.begin(), judged.notes.end());
    return {};
  }

  void note_stages(size_t i) {
    BenchSide& side = result_.sides[i];
    for (size_t s = 0; s < side.stages.size(); ++s) {
      const StageTimes& times = side.stages[s];
      const Target& target = request_.subjects[i].stages[s].target;
      if (!times.edited.empty())
        side.notes.push_back(
            fmt::format("a copy of {} was timed, not the file as it is: {}", times.file, times.edited));
      if (!times.unoptimised_because.empty()) side.notes.push_back(unoptimised_note(target, times.unoptimised_because));
      if (times.placement.on_requested < times.placement.total)
        side.notes.push_back(fmt::format("{} of {} nodes of \"{}\" ran on {}; the others' time is in it",
                                         times.placement.on_requested, times.placement.total, times.name,
                                         times.placement.requested));
      for (const std::string& note : target.notes)
        if (std::find(side.notes.begin(), side.notes.end(), note) == side.notes.end()) side.notes.push_back(note);
    }
    if (!side.repeats)
      side.notes.push_back(
          "the last run's outputs are not those of the first one, to the bit: results move from run to run");
  }

  void conclude(const History& history) {
    const bool runs = std::any_of(request_.subjects.begin(), request_.subjects.end(),
                                  [](const BenchSubject& subject) { return !subject.reference_model.empty(); });
    if (runs && request_.with_reference) result_.reference = request_.reference.spec.text;
    result_.verdict = Verdict::kPass;
    for (size_t i = 0; i < result_.sides.size(); ++i) {
      note_stages(i);
      BenchSide& side = result_.sides[i];
      result_.verdict = worse(result_.verdict, side.verdict);
      if (const HistoryLine* before = last_of(history, side.name))
        result_.earlier.push_back(ratio_to_earlier(*before, history_line(result_, side)));
    }
    for (const Gate& gate : request_.gates.gates) result_.gate_texts.push_back(gate.text());
    for (const std::string& damaged : history.damaged)
      result_.notes.push_back(fmt::format("{}, {}: skipped", request_.history.string(), damaged));
    if (result_.sides.size() == 2) result_.ratio = ratio_of(result_);
    explain_bench(result_);
  }

  Status add_to_history() {
    if (request_.history.empty()) return {};
    std::vector<HistoryLine> lines;
    for (const BenchSide& side : result_.sides) lines.push_back(history_line(result_, side));
    result_.history = request_.history.string();
    return append_to_history(request_.history, lines);
  }

  const BenchRequest& request_;
  BenchResult result_;
  Path folder_;
  std::vector<NamedTensors> first_, last_, for_cycles_;  // by subject
  std::vector<std::vector<double>> seconds_;             // of the chain, by subject, in order
};

}  // namespace

Result<BenchResult> bench(const BenchRequest& request) { return Bench(request).run(); }

}  // namespace paritas
