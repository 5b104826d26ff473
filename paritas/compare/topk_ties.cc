#include "paritas/compare/topk_ties.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace paritas {
namespace {

// long double holds every 64-bit integer; double does not.
Result<std::vector<long double>> values_of(const Tensor& tensor) {
  PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor));
  std::vector<long double> values(view.count());
  const auto take = [&]<class T>(T value) {
    for (size_t i = 0; i < values.size(); ++i) {
      std::memcpy(&value, view.bytes().data() + i * sizeof(T), sizeof(T));
      values[i] = value;
    }
  };
  if (view.dtype() == DType::kI64) {
    take(int64_t{});
  } else if (view.dtype() == DType::kU64) {
    take(uint64_t{});
  } else {
    std::vector<double> doubles(view.count());
    load_as_double(view.dtype(), view.bytes(), 0, doubles);
    std::copy(doubles.begin(), doubles.end(), values.begin());
  }
  return values;
}

}  // namespace

Result<bool> equal_up_to_ties(const Tensor& reference_scores, const Tensor& reference_ids, const Tensor& device_scores,
                              const Tensor& device_ids) {
  const Shape& shape = reference_scores.shape;
  if (reference_ids.shape != shape || device_scores.shape != shape || device_ids.shape != shape) return false;
  PARITAS_ASSIGN(const auto scores, values_of(reference_scores));
  PARITAS_ASSIGN(const auto other_scores, values_of(device_scores));
  PARITAS_ASSIGN(const auto ids, values_of(reference_ids));
  PARITAS_ASSIGN(const auto other_ids, values_of(device_ids));
  if (scores.empty()) return false;
  const size_t row = shape.empty() ? 1 : static_cast<size_t>(shape.back());
  for (size_t start = 0; start < scores.size(); start += row)
    for (size_t first = start; first < start + row;) {
      size_t end = first + 1;
      while (end < start + row && scores[end] == scores[first]) ++end;
      // Within a tie the device's scores must tie as well, or its order would say something.
      for (size_t i = first + 1; i < end; ++i)
        if (other_scores[i] != other_scores[first]) return false;
      std::vector<long double> a(ids.begin() + static_cast<std::ptrdiff_t>(first),
                                 ids.begin() + static_cast<std::ptrdiff_t>(end));
      std::vector<long double> b(other_ids.begin() + static_cast<std::ptrdiff_t>(first),
                                 other_ids.begin() + static_cast<std::ptrdiff_t>(end));
      std::sort(a.begin(), a.end());
      std::sort(b.begin(), b.end());
      if (a != b) return false;
      first = end;
    }
  return true;
}

}  // namespace paritas
