#include "paritas/runtime/tflite/kernels.h"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace paritas::tflite {
namespace {

// A kernel is a plain function, so each one that is followed by the tap needs a function of its own that knows it.
constexpr size_t kSlots = 512;
struct Slot {
  const Registration* original = nullptr;
  Registration wrapped{};
};
struct State {
  std::array<Slot, kSlots> slots;
  size_t used = 0;
  Tap tap;
};
State& state() {
  static State instance;
  return instance;
}

template <size_t Index>
int invoke_and_tell(void* context, LeadingNode* node) {
  State& all = state();
  const int status = all.slots[Index].original->invoke(context, node);
  if (status == 0 && all.tap && node->outputs != nullptr) all.tap(context, *node->outputs);
  return status;
}

using Invoke = int (*)(void*, LeadingNode*);
template <size_t... Index>
constexpr std::array<Invoke, sizeof...(Index)> functions(std::index_sequence<Index...>) {
  return {&invoke_and_tell<Index>...};
}
constexpr auto kFunctions = functions(std::make_index_sequence<kSlots>{});

}  // namespace

Result<std::unique_ptr<Kernels>> Kernels::make(const Api& api, bool reference, bool tapped) {
  const bool known = api.options_set_resolver != nullptr && api.interpreter_create_with_selected_ops != nullptr &&
                     (reference ? api.reference_resolver != nullptr && api.reference_find != nullptr
                                : api.builtin_resolver != nullptr && api.find != nullptr) &&
                     api.find_custom != nullptr;
  if (!known)
    return runtime_error(api.path.string(),
                         fmt::format("TensorFlow Lite {} does not let its kernels be chosen", api.version()),
                         "take tflite:default, which uses the library's own choice, or another library");
  std::unique_ptr<Kernels> kernels(new Kernels());
  kernels->api_ = &api;
  kernels->reference_ = reference;
  kernels->tapped_ = tapped;
  (reference ? api.reference_resolver
             : api.builtin_resolver)(kernels->object_);  // the destructor is not exported; the process ends soon
  return kernels;
}

void Kernels::use_in(void* options) { api_->options_set_resolver(options, &find_builtin, &find_custom, this); }

void Kernels::set_tap(Tap tap) { state().tap = std::move(tap); }

const Registration* Kernels::find_builtin(void* self, int code, int version) {
  auto& kernels = *static_cast<Kernels*>(self);
  const auto find = kernels.reference_ ? kernels.api_->reference_find : kernels.api_->find;
  return kernels.chosen(find(kernels.object_, code, version));
}

const Registration* Kernels::find_custom(void* self, const char* name, int version) {
  auto& kernels = *static_cast<Kernels*>(self);
  return kernels.chosen(kernels.api_->find_custom(kernels.object_, name, version));
}

const Registration* Kernels::chosen(const Registration* found) const {
  State& all = state();
  // Operators that run through the newer interface have no plain function to follow.
  if (!tapped_ || found == nullptr || found->invoke == nullptr) return found;
  for (size_t i = 0; i < all.used; ++i)
    if (all.slots[i].original == found) return &all.slots[i].wrapped;
  if (all.used == kSlots) return found;
  Slot& slot = all.slots[all.used];
  slot.original = found;
  slot.wrapped = *found;
  slot.wrapped.invoke = kFunctions[all.used];
  ++all.used;
  return &slot.wrapped;
}

}  // namespace paritas::tflite
