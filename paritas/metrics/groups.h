// Errors by groups of elements that share their index along some axes: one head, one token, one channel. Pure functions
// of two tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "paritas/tensor/tensor.h"

namespace paritas {

// Goes through a tensor in memory order and knows which group each element belongs to. Groups are numbered in row-major
// order over the chosen axes.
class GroupWalk {
 public:
  // `axes`: within the rank, each once, in any order; none: one group.
  GroupWalk(const Shape& shape, const std::vector<int>& axes);
  uint64_t groups() const { return groups_; }
  uint64_t group() const { return group_; }
  void next();

 private:
  Shape shape_;
  std::vector<uint64_t> stride_;  // of the group number, an axis; 0 for axes that do not count
  std::vector<int64_t> at_;
  uint64_t groups_ = 1;
  uint64_t group_ = 0;
};

// Axes as people give them: negative ones count from the end. Errors: beyond the rank, twice, none.
Result<std::vector<int>> resolve_axes(const std::vector<int64_t>& axes, size_t rank, const std::string& subject);

struct GroupError {
  std::vector<int64_t> index;  // along the chosen axes
  uint64_t count = 0;          // elements
  double error_energy = 0;     // sum d^2 over finite pairs
  double reference_energy = 0;
  double max_abs = 0;        // max |d|
  uint64_t device_only = 0;  // NaN or infinite on the device, finite in the reference
  double error_share = 0;    // of the whole tensor's error energy; 0 when that is 0
  double reference_share = 0;
  double nmse = 0;  // error_energy / reference_energy; 0/0 = 0, positive/0 = inf
};

// Some indices of one axis that hold most of the error.
struct UnevenSet {
  enum class Kind {
    kOne,     // one index
    kPeriod,  // every index that is `first` modulo `period`
    kWindow,  // `first` to `last`, at one end of the axis
  };
  Kind kind = Kind::kOne;
  int axis = 0;
  int64_t size = 0;   // of the axis
  int64_t first = 0;  // kOne: the index
  int64_t last = 0;   // kWindow
  int64_t period = 0;
  double share = 0;            // of the error energy
  double fair = 0;             // share of the elements
  double reference_share = 0;  // of the reference's energy
};

struct GroupFigures {
  std::vector<int> axes;  // resolved, in the order given
  Shape sizes;            // of these axes
  uint64_t groups = 0;
  double error_energy = 0, reference_energy = 0;
  std::vector<GroupError> largest;  // by error energy, those with non-finite values first; at most `keep`
  std::vector<UnevenSet> uneven;    // at most one an axis
};

// An uneven set is named when what is left for the other indices is no more than this part of what they would hold if
// the error were spread evenly. A single index is easier to believe than a window or a period, which are picked from
// many.
inline constexpr double kOneLeaves = 0.6;
inline constexpr double kSetLeaves = 0.25;
// ... and when it holds this many times its share of the reference's energy (large values have large errors), unless
// the reference's energy is spread evenly anyway: at most so many times the share of the elements.
inline constexpr double kBeyondValues = 2.0;
inline constexpr double kEvenValues = 1.25;

// Shapes must be equal. NaN and infinities of the device alone count as infinite error of their group.
Result<GroupFigures> group_errors(const Tensor& reference, const Tensor& device, const std::vector<int>& axes,
                                  size_t keep = 8);

// Error energy, reference energy and elements of each index of one axis -> the set that holds more than its share.
// Non-finite error energies: the indices that have them are compared by number alone.
std::optional<UnevenSet> uneven_set(const std::vector<double>& error, const std::vector<double>& reference);

// "index 3", "every 2nd index from 0 (0, 2, 4, ...)", "the last 4 indices (12 to 15)".
std::string to_string(const UnevenSet& set);

}  // namespace paritas
