// Report of `paritas pieces`.
#pragma once

#include <string>

#include "paritas/base/json.h"
#include "paritas/locate/pieces_types.h"
#include "paritas/report/style.h"

namespace paritas {

std::string terminal(const PiecesResult& result, const Style& style);
Json to_json(const PiecesResult& result);  // schema paritas.pieces/1

}  // namespace paritas
