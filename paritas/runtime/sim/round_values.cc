#include "paritas/runtime/sim/round_values.h"

#include <cassert>
#include <cstdint>
#include <cstring>

namespace paritas::sim {
namespace {

template <class T>
void whole(std::span<const std::byte> in, std::span<std::byte> out, const SimulatedFormat& format) {
  const size_t count = in.size() / sizeof(T);
  round_to_format(std::span<const T>(reinterpret_cast<const T*>(in.data()), count),
                  std::span<T>(reinterpret_cast<T*>(out.data()), count), format.format, format.overflow);
}

template <float (*Widen)(uint16_t), uint16_t (*Narrow)(float, Overflow)>
void halves(std::span<const std::byte> in, std::span<std::byte> out, const SimulatedFormat& format) {
  const auto* from = reinterpret_cast<const uint16_t*>(in.data());
  auto* to = reinterpret_cast<uint16_t*>(out.data());
  for (size_t i = 0; i < in.size() / sizeof(uint16_t); ++i)
    to[i] = Narrow(round_to_format(Widen(from[i]), format.format, format.overflow), Overflow::kInfinity);
}

}  // namespace

bool is_rounded(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kF16 || dtype == DType::kBF16;
}

void round_values(DType dtype, std::span<const std::byte> in, std::span<std::byte> out, const SimulatedFormat& format) {
  assert(in.size() == out.size());
  if (in.empty()) return;
  switch (dtype) {
    case DType::kF32:
      return whole<float>(in, out, format);
    case DType::kF64:
      return whole<double>(in, out, format);
    case DType::kF16:
      return halves<float_from_f16, f16_from_float>(in, out, format);
    case DType::kBF16:
      return halves<float_from_bf16, bf16_from_float>(in, out, format);
    default:
      if (in.data() != out.data()) std::memcpy(out.data(), in.data(), in.size());
  }
}

}  // namespace paritas::sim
