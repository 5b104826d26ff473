// The cross matrix as text and as JSON. Internal to report.
#pragma once

#include "paritas/report/reports.h"

namespace paritas {

// One block a cut. Placement says nothing of a simulated device.
std::string cross_matrix_blocks(const CrossMatrices& matrices, bool simulated, const Style& style);
Json cross_matrix_json(const CrossMatrices& matrices);  // array, one entry a cut
Json uncut_json(const CrossMatrices& matrices);         // the uncut model on the device

}  // namespace paritas
