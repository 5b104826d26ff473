// Number formats smaller than float32: conversion and rounding, bit by bit and without tables from elsewhere.
// IEEE 754-2019 binary16; bfloat16 (the upper half of binary32); OCP "OFP8" E4M3 (FN) and E5M2, revision 1.0.
#pragma once

#include <cstdint>
#include <span>

#include "paritas/base/dtype.h"

namespace paritas {

enum class Overflow {
  kInfinity,  // IEEE: beyond the largest finite value rounds to infinity (NaN where the format has no infinity)
  kSaturate,  // the largest finite value of the same sign; infinities of the input saturate too
};

// Exact widening.
float float_from_f16(uint16_t bits);
float float_from_bf16(uint16_t bits);
float float_from_f8e4m3fn(uint8_t bits);
float float_from_f8e5m2(uint8_t bits);

// Round to nearest, ties to even; subnormals are kept; NaN stays NaN.
uint16_t f16_from_float(float value, Overflow overflow = Overflow::kInfinity);
uint16_t bf16_from_float(float value, Overflow overflow = Overflow::kInfinity);
uint8_t f8e4m3fn_from_float(float value, Overflow overflow = Overflow::kInfinity);
uint8_t f8e5m2_from_float(float value, Overflow overflow = Overflow::kInfinity);

// The nearest value that `format` (kF16, kBF16, kF8..., kF32) can hold, as float or double. A double is rounded once,
// not by way of float.
float round_to_format(float value, DType format, Overflow overflow = Overflow::kInfinity);
double round_to_format(double value, DType format, Overflow overflow = Overflow::kInfinity);

// Whole arrays; in and out may be the same memory. The loops are written so that compilers vectorise them.
void round_to_format(std::span<const float> in, std::span<float> out, DType format, Overflow overflow);
void round_to_format(std::span<const double> in, std::span<double> out, DType format, Overflow overflow);

double max_finite(DType format);     // 65504 for float16; 448, 57344, 3.39e38 ...
double min_normal(DType format);     // 2^-14 for float16
double min_subnormal(DType format);  // 2^-24 for float16
double epsilon(DType format);        // distance from 1 to the next value: 2^-10 for float16

}  // namespace paritas
