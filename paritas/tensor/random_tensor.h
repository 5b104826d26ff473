// For property tests: rapidcheck generators of tensors and of damaged files. Include gtest first.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

#include "paritas/tensor/tensor.h"

namespace paritas {

inline std::vector<std::byte> all_bytes(const Tensor& tensor) {
  std::vector<std::byte> bytes(tensor.bytes.size());
  if (!tensor.bytes.read(0, bytes)) std::abort();
  return bytes;
}

// Up to 5 dimensions of 0 to 5, any type, any bytes.
inline rc::Gen<Tensor> random_tensor(bool numpy_types_only) {
  return rc::gen::exec([=] {
    const auto dtype = *rc::gen::suchThat(
        rc::gen::map(rc::gen::inRange(0, kDTypeCount), [](int i) { return static_cast<DType>(i); }), [=](DType d) {
          const bool foreign = bits(d) < 8 || d == DType::kBF16 || d == DType::kF8E4M3FN || d == DType::kF8E5M2;
          return !numpy_types_only || !foreign;
        });
    const auto rank = *rc::gen::inRange<size_t>(0, 6);
    const auto shape = *rc::gen::container<Shape>(rank, rc::gen::inRange<int64_t>(0, 6));
    std::vector<std::byte> bytes(byte_size(dtype, *element_count(shape)));
    auto state = *rc::gen::arbitrary<uint64_t>();
    for (auto& byte : bytes) byte = static_cast<std::byte>((state = state * 6364136223846793005u + 99) >> 56);
    return Tensor{dtype, shape, Bytes::in_memory(std::move(bytes))};
  });
}

// One to four bytes among the first `reach` overwritten (often by a character that means something in a header), and
// now and then the end cut off.
inline rc::Gen<std::string> damaged_copy(std::string content, size_t reach) {
  return rc::gen::exec([content = std::move(content), reach] {
    std::string damaged = content;
    const auto changes = *rc::gen::inRange(1, 5);
    for (int i = 0; i < changes && !damaged.empty(); ++i) {
      const auto at = *rc::gen::inRange<size_t>(0, std::min(reach, damaged.size()));
      damaged[at] = *rc::gen::oneOf(rc::gen::elementOf(std::string("0123456789'\"{}[](),:<>|fiubO \n")),
                                    rc::gen::arbitrary<char>());
    }
    if (*rc::gen::inRange(0, 4) == 0) damaged.resize(*rc::gen::inRange<size_t>(0, damaged.size() + 1));
    return damaged;
  });
}

}  // namespace paritas
