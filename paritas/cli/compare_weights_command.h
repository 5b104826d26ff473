// paritas compare MODEL MODEL: the weights of two models.
#pragma once

#include <string>

#include "paritas/cli/common.h"

namespace paritas::cli {

// Both are model files (.onnx or .tflite).
bool are_models(const std::string& first, const std::string& second);
Result<int> compare_two_models(const CommonOptions& common, const std::string& first, const std::string& second);

}  // namespace paritas::cli
