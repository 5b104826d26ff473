// Wordings of the range preflight: no device ran, values of the reference are held against a format.
#pragma once

#include <string>
#include <vector>

#include "paritas/judge/finding.h"

namespace paritas::catalogue {

struct PreflightFacts {
  std::string node;  // empty: an input of the model
  std::string op;
  std::string tensor;
  std::string operand;       // constant or tensor that makes the result infinite
  std::string operand_node;  // that makes the operand; empty: an input of the model
  std::string hidden;        // "mean square": the value is formed inside the operator
  std::string format;        // "float16"
  double limit = 0;          // largest finite value of the format; 0 for int8
  double max_abs = 0;
  double factor = 0;  // max_abs / limit
  uint64_t elements = 0, overflowed = 0, flushed = 0;
  double lost_energy = 0;  // of the tensor; hidden: of the operator's result
  uint64_t result_nonfinite = 0;
  std::string softmax;          // node that reads the tensor, and makes `result_nonfinite` of it
  double weighted_max_abs = 0;  // int8: largest value that the Softmax gives weight
  uint64_t sample = 0, samples = 1;
  std::vector<std::string> behind;  // further nodes that pass it on
};
Finding preflight_overflow(const PreflightFacts& facts);
Finding preflight_lost_energy(const PreflightFacts& facts);
Finding preflight_hidden(const PreflightFacts& facts);
Finding preflight_zero_times_infinity(const PreflightFacts& facts);  // operand: the constant
Finding preflight_infinite_weights(const PreflightFacts& facts);     // operand: the weights; overflowed: of them
Finding preflight_divides_by_zero(const PreflightFacts& facts);      // operand: the divisor

Finding preflight_ruined_scale(const PreflightFacts& facts);  // int8; lost_energy: of the Softmax's result

// Notes. Of the facts only format, limit and samples are read.
Finding preflight_masks(const PreflightFacts& facts, const std::vector<std::string>& nodes, double worst_loss);
Finding preflight_constants(const PreflightFacts& facts, const std::vector<std::string>& constants, uint64_t infinite);
Finding preflight_tiny_constants(const PreflightFacts& facts, const std::vector<std::string>& constants,
                                 double worst_lost_energy);
Finding preflight_tiny(const PreflightFacts& facts, const std::vector<std::string>& nodes, double worst_lost_energy);
Finding preflight_hidden_harmless(const PreflightFacts& facts, const std::vector<std::string>& values,
                                  double worst_loss);
Finding preflight_nonfinite(const PreflightFacts& facts, const std::vector<std::string>& nodes);

}  // namespace paritas::catalogue
