#include "paritas/cli/compare_weights_command.h"

#include "paritas/cli/commands.h"
#include "paritas/report/weights_report.h"
#include "paritas/tflite/model.h"
#include "paritas/weights/compare_weights.h"

namespace paritas::cli {

bool are_models(const std::string& first, const std::string& second) {
  const auto is_model = [](const std::string& path) {
    return Path(path).extension() == ".onnx" || tflite::is_tflite(path);
  };
  return is_model(first) && is_model(second);
}

Result<int> compare_two_models(const CommonOptions& common, const std::string& first, const std::string& second) {
  PARITAS_ASSIGN(const WeightsComparison result, compare_weights(first, second));
  PARITAS_TRY(emit(common, terminal(result, terminal_style(common)), to_json(result)));
  return result.same ? kExitPass : kExitDeviates;
}

}  // namespace paritas::cli
