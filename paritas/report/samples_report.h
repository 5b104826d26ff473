// A diagnosis over many samples as text and JSON (schema paritas.locate-samples/1).
#pragma once

#include <string>

#include "paritas/base/json.h"
#include "paritas/locate/samples_types.h"
#include "paritas/report/style.h"

namespace paritas {

Json to_json(const SamplesResult& result);
std::string terminal(const SamplesResult& result, const Style& style);

}  // namespace paritas
