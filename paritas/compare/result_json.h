// Results of compare as JSON (schema paritas.compare/1, docs/results.md) and back, so that stored results can be judged
// again, merged, and compared with newer ones.
#pragma once

#include "paritas/base/files.h"
#include "paritas/base/json.h"
#include "paritas/compare/types.h"

namespace paritas {

Json to_json(const TensorComparison& tensor);
Json to_json(const CompareResult& result);

// Provenance of the two sides is read as far as it was stored (without tensors).
Result<CompareResult> compare_result_from_json(const Json& json, const std::string& subject);
Result<CompareResult> load_compare_result(const Path& file);

}  // namespace paritas
