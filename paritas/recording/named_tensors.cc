#include "paritas/recording/named_tensors.h"

namespace paritas {

const Tensor* find_tensor(const NamedTensors& tensors, const std::string& name) {
  for (const auto& [known, tensor] : tensors)
    if (known == name) return &tensor;
  return nullptr;
}

}  // namespace paritas
