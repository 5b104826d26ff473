#include "paritas/judge/catalogue_bench.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/judge/catalogue_text.h"

namespace paritas::catalogue {
namespace {

std::string signed_mib(double mib) { return fmt::format("{:+.1f} MiB", mib); }

}  // namespace

Finding timing_of_wrong_results(const TimingFacts& facts) {
  Finding f;
  f.id = "timing-of-wrong-results";
  f.severity = Severity::kFault;
  f.text = fmt::format("What was timed is wrong: the outputs of {} are judged \"{}\" ({}).", facts.name, facts.verdict,
                       facts.reason);
  f.shows = "these times are those of a computation that does not give the right results";
  f.does_not_show = "how long the right computation takes: a repair may be slower or faster";
  f.next = "paritas locate finds the cause; time it again when it is repaired";
  f.evidence = {{"name", facts.name}, {"verdict", facts.verdict}, {"reason", facts.reason}};
  return f;
}

Finding timing_too_noisy(const TimingFacts& facts) {
  Finding f;
  f.id = "timing-too-noisy";
  f.text =
      fmt::format("The machine was too noisy to tell how long {} takes: {}.", facts.name, fmt::join(facts.noise, "; "));
  f.shows = "another round may well give a median that is more than 10 % off";
  f.does_not_show = "what disturbed it: other processes, the clock of the processor, or the network itself";
  f.next = "time it again on an idle machine, with more runs (--runs)";
  f.evidence = {{"name", facts.name}, {"median_ms", json_number(facts.median_ms)}, {"reasons", facts.noise}};
  return f;
}

Finding timing_single_run(const TimingFacts& facts) {
  Finding f;
  f.id = "timing-single-run";
  f.text = fmt::format("The time of {} is that of a single run: an observation for diagnosis.", facts.name);
  f.shows = "it ran, and took so long this time";
  f.does_not_show = "how long it takes: no percentile, no frame rate, no speed-up follows from one run";
  f.next = "leave --runs at 20";
  f.evidence = {{"name", facts.name}, {"runs", facts.runs}};
  return f;
}

Finding timing_not_judged(const TimingFacts& facts) {
  Finding f;
  f.id = "timing-not-judged";
  f.text = fmt::format("Whether what was timed is right was not judged for {}: {}.", facts.name, facts.reason);
  f.shows = "how long these files take on this input";
  f.does_not_show = "that their results are right";
  f.next = "declare gates, e.g. --gate 'scores: cosine>=0.99' or --profile detection-device";
  f.evidence = {{"name", facts.name}, {"reason", facts.reason}};
  return f;
}

Finding timing_emulated(const EmulationFacts& facts) {
  Finding f;
  f.id = "timing-emulated";
  f.text = fmt::format("{} of {} ran on an emulation: its times are those of this host, not of a device.{}",
                       list(facts.stages), facts.name,
                       facts.cycles.empty() ? "" : fmt::format(" The provider's own count: {}.", list(facts.cycles)));
  f.shows = facts.cycles.empty() ? "that the files load and run"
                                 : "that the files load and run, and what the provider counts for them";
  f.does_not_show =
      "any latency of a device: none follows from host time, nor from cycles, which an emulation was seen to count "
      "twice "
      "as high on a busy host";
  f.next = "run paritas bench on the device";
  f.evidence = {{"name", facts.name}, {"stages", facts.stages}, {"cycles", facts.cycles}};
  return f;
}

Finding endurance_results_move(const EnduranceFacts& facts) {
  Finding f;
  f.id = "endurance-results-move";
  f.text = fmt::format(
      "{} of {} runs of {} in {:.0f} s gave other bits than the first one for the same input, the first of them run "
      "{}.",
      facts.differing, facts.runs, facts.name, facts.seconds, facts.first_differing);
  f.shows = "the same session does not always compute the same";
  f.does_not_show = "that it matters: how far the results move was not measured, nor which node moves";
  f.next = "paritas locate --consistency measures how far they move, and holds the gates against it";
  f.evidence = {{"name", facts.name},
                {"runs", facts.runs},
                {"differing", facts.differing},
                {"first_differing", facts.first_differing}};
  return f;
}

Finding endurance_memory_grows(const EnduranceFacts& facts) {
  Finding f;
  f.id = "endurance-memory-grows";
  f.text = fmt::format("The process of {} grew by {} in {:.0f} s after its first tenth ({} an hour).", facts.name,
                       signed_mib(facts.grown_mib), facts.seconds, signed_mib(facts.mib_per_hour));
  f.shows = "resident memory kept growing while the same input was run again and again";
  f.does_not_show = "a leak: an allocator may still be settling, and nothing says that it goes on";
  f.next = "endure longer (--endure 3600): a leak goes on, settling ends";
  f.evidence = {{"name", facts.name},
                {"grown_mib", json_number(facts.grown_mib)},
                {"mib_per_hour", json_number(facts.mib_per_hour)}};
  return f;
}

Finding endurance_time_drifts(const EnduranceFacts& facts) {
  Finding f;
  f.id = "endurance-time-drifts";
  f.text = fmt::format("{} took {:.3f} ms in the first tenth of {} runs and {:.3f} ms in the last (medians).",
                       facts.name, facts.first_ms, facts.runs, facts.last_ms);
  f.shows = "time did not stay what it was within these " + fmt::format("{:.0f} s", facts.seconds);
  f.does_not_show = "why: heat, the clock of the processor, other processes or memory";
  f.next = "watch clock and temperature; judge by the last tenth what runs for hours";
  f.evidence = {
      {"name", facts.name}, {"first_ms", json_number(facts.first_ms)}, {"last_ms", json_number(facts.last_ms)}};
  return f;
}

Finding timing_ratio(const RatioFacts& facts) {
  Finding f;
  f.id = "timing-ratio";
  const bool straddles = facts.lowest < 1 && facts.highest > 1;
  f.text = fmt::format("{} takes {:.3f} times as long as {} (median over median; {:.3f} to {:.3f} over {} rounds).{}",
                       facts.of, facts.value, facts.to, facts.lowest, facts.highest, facts.rounds,
                       straddles ? " The rounds do not agree which is faster." : "");
  f.shows = straddles ? "no difference that these rounds could tell"
                      : "what one takes beside the other on this machine, in alternating rounds of one call";
  f.does_not_show = "the same on another machine, with other inputs, threads or load";
  f.next = "repeat it where it will run";
  f.evidence = {{"of", facts.of},
                {"to", facts.to},
                {"ratio", json_number(facts.value)},
                {"lowest", json_number(facts.lowest)},
                {"highest", json_number(facts.highest)},
                {"rounds", facts.rounds}};
  return f;
}

Finding timing_ratio_refused(const RatioFacts& facts) {
  Finding f;
  f.id = "timing-ratio-refused";
  f.text = fmt::format("No ratio of {} to {} is given: {}.", facts.of, facts.to, fmt::join(facts.refused, "; "));
  f.shows = "the two rounds were not made under the same conditions, or one of them carries no ratio";
  f.does_not_show = "which of them is faster";
  f.next = "time both in one call, under the same conditions: paritas bench A B";
  f.evidence = {{"of", facts.of}, {"to", facts.to}, {"refused", facts.refused}};
  return f;
}

}  // namespace paritas::catalogue
