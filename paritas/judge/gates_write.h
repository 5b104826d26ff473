// Gates as data again, for whoever keeps them with what they judged.
#pragma once

#include "paritas/judge/gates.h"

namespace paritas {

// The content of a gates file, which gates_from_json() reads back to the same gates (all but their origin).
Json gates_to_json(const GateSet& gates);

}  // namespace paritas
