// Figures of one activation over all samples, tensor by tensor.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "paritas/explain/types.h"
#include "paritas/metrics/abs_histogram.h"
#include "paritas/metrics/affine.h"
#include "paritas/tensor/tensor.h"

namespace paritas {

// One quantiser for the whole tensor.
struct TensorQuantiser {
  DType type = DType::kI8;
  double scale = 1, zero_point = 0;
  double lowest() const;  // codes
  double highest() const;
  double code(double real) const;  // nearest, ties to even, clipped to the type
  double real(double code) const { return (code - zero_point) * scale; }
  // Step that a range needs with as many codes: symmetric where the zero point is 0 and the type signed; 0 lies within.
  double asked(double min, double max) const;
};

class DistributionCounter {
 public:
  DistributionCounter();
  void add(std::span<const double> values);
  Distribution figures() const;

 private:
  metrics::AbsHistogram histogram_;
  Distribution d_;
  uint64_t zeros_ = 0;
};

// Which codes are in use: up to 16 bits.
class CodeSet {
 public:
  void add(double code);
  uint64_t size() const { return size_; }

 private:
  std::vector<bool> seen_;
  uint64_t size_ = 0;
};

// A tensor with what its elements mean.
struct RealTensor {
  Tensor tensor;
  std::optional<Affine> affine;  // absent: elements are real values
};

class ValueCounter {
 public:
  // `errors_only`: the comparison alone, which takes no memory worth counting.
  explicit ValueCounter(std::optional<TensorQuantiser> quantiser, bool errors_only = false)
      : quantiser_(quantiser), errors_only_(errors_only) {}
  // Of one sample; either may be missing. Both present: of equal shape, or equal element count with `shapes_differ`,
  // which leaves the comparison out.
  Status add(const RealTensor* reference, const RealTensor* device, bool comparable);
  // Fills all but names and bounds.
  void finish(ValueFigures& figures) const;

 private:
  void add_reference(std::span<const double> values);
  void add_device(std::span<const double> values);
  void add_error(std::span<const double> reference, std::span<const double> device);

  std::optional<TensorQuantiser> quantiser_;
  bool errors_only_ = false;
  std::optional<DistributionCounter> of_reference_, of_device_;  // the second only without a reference
  bool compared_ = false;
  CodeSet codes_;
  uint64_t codes_count_ = 0, at_low_ = 0, at_high_ = 0, at_high_now_ = 0;
  double top_now_ = 0;
  uint64_t clipped_ = 0, top_cut_ = 0, largest_tie_ = 0;
  double energy_ = 0, own_ = 0, clip_ = 0;
  uint64_t compared_count_ = 0, differing_ = 0, device_nonfinite_ = 0;
  double error_energy_ = 0, error_ = 0, max_abs_ = 0;
};

// One input of a Concat against the quantiser of its output.
class SharedCounter {
 public:
  explicit SharedCounter(TensorQuantiser quantiser) : quantiser_(quantiser) {}
  Status add(const RealTensor& tensor);
  SharedScale figures() const;

 private:
  TensorQuantiser quantiser_;
  DistributionCounter distribution_;
  CodeSet codes_;
  double energy_ = 0, error_ = 0;
};

}  // namespace paritas
