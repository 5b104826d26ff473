#include "paritas/judge/catalogue_samples.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/judge/catalogue_text.h"

namespace paritas::catalogue {

Finding over_samples(const Finding& of_one, const OverSamplesFacts& facts) {
  Finding f = of_one;
  const bool all = facts.holds == facts.diagnosed;
  f.text = all ? fmt::format("On all {} samples. In {}: {}", facts.diagnosed, facts.told_from, of_one.text)
               : fmt::format("On {} of {} samples ({} the worst, {}; {} the median, {}). In {}: {}", facts.holds,
                             facts.diagnosed, facts.in_worst ? "among them" : "not", facts.worst_sample,
                             facts.in_median ? "among them" : "not", facts.median_sample, facts.told_from, of_one.text);
  if (!facts.node.empty()) {
    f.text += fmt::format(" Local NMSE of {} over the samples: median {:.2g}, worst {:.2g} ({})", facts.node,
                          facts.local_median, facts.local_worst, facts.local_worst_sample);
    f.text += facts.local_nonfinite == 0
                  ? "."
                  : fmt::format(", where both sides are finite; on {} the device alone makes NaN or infinities.",
                                facts.local_nonfinite);
  }
  f.does_not_show +=
      all ? "; that it holds on samples that were not given"
          : fmt::format("; that it holds on the other {}, where it was not found", facts.diagnosed - facts.holds);
  if (!f.evidence.is_object()) f.evidence = Json::object();
  f.evidence["samples"] = {{"holds", facts.holds},
                           {"diagnosed", facts.diagnosed},
                           {"told_from", facts.told_from},
                           {"in_worst", facts.in_worst},
                           {"in_median", facts.in_median}};
  return f;
}

Finding divergence_varies(const std::vector<std::pair<std::string, uint64_t>>& nodes, uint64_t diagnosed) {
  Finding f;
  f.id = "divergence-varies";
  std::vector<std::string> counted;
  uint64_t diverging = 0;
  auto sorted = nodes;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [node, samples] : sorted) {
    f.nodes.push_back(node);
    counted.push_back(fmt::format("{} on {}", node, samples));
    diverging += samples;
  }
  f.text =
      fmt::format("{} of {} samples deviate, and not from the same node on: {}.", diverging, diagnosed, list(counted));
  f.shows = "that one sample does not stand for the others here";
  f.does_not_show = "that there is more than one cause: the first divergence need not be the cause";
  f.next = "locate the samples one by one, one for each of these nodes";
  f.evidence = {{"nodes", Json::array()}, {"diagnosed", diagnosed}};
  for (const auto& [node, samples] : sorted) f.evidence["nodes"].push_back({{"node", node}, {"samples", samples}});
  return f;
}

}  // namespace paritas::catalogue
