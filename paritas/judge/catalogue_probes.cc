#include "paritas/judge/catalogue_probes.h"

#include <fmt/format.h>

namespace paritas::catalogue {

void add_softmax_sums(Finding& finding, const SoftmaxSumFacts& facts) {
  finding.text +=
      facts.broken_rows > 0
          ? fmt::format(" Of the {} rows of {} by itself, {} hold NaN or infinities.", facts.rows, facts.node,
                        facts.broken_rows)
          : fmt::format(" Rows of {} by itself sum to 1 only within {:.2g}; storing the right result costs {:.2g}.",
                        facts.node, facts.device_max, facts.storage_max);
  finding.evidence["softmax_sums"] = {{"node", facts.node},
                                      {"device_max", json_number(facts.device_max)},
                                      {"storage_max", json_number(facts.storage_max)},
                                      {"rows", facts.rows},
                                      {"broken_rows", facts.broken_rows}};
}

void add_statistic(Finding& finding, const StatisticFacts& facts) {
  finding.text += fmt::format(
      " A wrong statistic explains it: rows of {} by itself are scaled by a factor that is off by {:.2g} (rms), and "
      "what "
      "no factor explains is {:.2g} of an error of {:.2g}.",
      facts.node, facts.scale_rms, facts.rest_rms, facts.result_rms);
  finding.evidence["implied_statistic"] = {{"node", facts.node},
                                           {"scale_rms", json_number(facts.scale_rms)},
                                           {"result_rms", json_number(facts.result_rms)},
                                           {"rest_rms", json_number(facts.rest_rms)}};
}

void add_accumulation(Finding& finding, const AccumulationFacts& facts) {
  finding.text += fmt::format(
      " Its kernel is off by {:.2g} (rms), {:.3g} times what rounding every one of {} partial sums would cost.",
      facts.kernel_rms, facts.kernel_rms / facts.accumulation_rms, facts.terms);
  finding.evidence["accumulation"] = {{"node", facts.node},
                                      {"terms", facts.terms},
                                      {"kernel_rms", json_number(facts.kernel_rms)},
                                      {"accumulation_rms", json_number(facts.accumulation_rms)}};
}

}  // namespace paritas::catalogue
