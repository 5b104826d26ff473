// What paritas inspect shows of a TFLite file.
#pragma once

#include "paritas/inspect/tflite.h"
#include "paritas/report/style.h"

namespace paritas {

std::string terminal(const TfliteInspection& inspection, const Style& style);
Json to_json(const TfliteInspection& inspection);

}  // namespace paritas
