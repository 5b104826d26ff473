// Wordings about what moves by itself, before two sides are compared.
#pragma once

#include <string>
#include <vector>

#include "paritas/judge/finding.h"

namespace paritas::catalogue {

struct NoiseFacts {
  std::string check;    // "device repeats"
  std::string setting;  // "3 runs of one session"
  std::string shows, does_not_show;
  struct Output {
    std::string name;
    bool shape_changed = false;
    double max_abs = 0, sqnr_db = 0;
    uint64_t differing = 0;
    bool fails_gate = false;  // the noise alone
  };
  std::vector<Output> outputs;  // that move
};
// Notes: what they cost is said by the verdict.
Finding device_noise(const NoiseFacts& facts);
Finding reference_noise(const NoiseFacts& facts);

// Random operators that outputs depend on, known from the graph.
struct RandomOperatorFacts {
  std::string node;
  std::string op;
  std::string inside;   // operator of `node` whose body or function holds it; empty: the node itself
  bool seeded = false;  // but not where its seed would make both sides draw alike
};
struct RandomFacts {
  std::vector<std::string> outputs;  // that depend on them
  std::vector<RandomOperatorFacts> operators;
};
// Why nothing can be told about a tensor behind them: "cannot tell: depends on ...".
std::string random_reason(const std::vector<RandomOperatorFacts>& operators);
// A note: what it costs is said by the verdict.
Finding random_operators(const RandomFacts& facts);

}  // namespace paritas::catalogue
