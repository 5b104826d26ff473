// Which kernels an interpreter uses, and a tap behind each of them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "paritas/runtime/tflite/api.h"

namespace paritas::tflite {

// Told of every operator that just ran: the context that it ran in, and the indices of the tensors that it wrote.
using Tap = std::function<void(void* context, const IntArray& outputs)>;

// The library's own resolver of kernels, in memory of ours. Must outlive the interpreters made with it.
class Kernels {
 public:
  // `tapped`: every operator tells the tap that is set when it runs. Errors: a library without these resolvers.
  static Result<std::unique_ptr<Kernels>> make(const Api& api, bool reference, bool tapped);
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  void use_in(void* options);
  // One a process: the functions that the library calls carry nothing of ours.
  static void set_tap(Tap tap);

 private:
  Kernels() = default;
  static const Registration* find_builtin(void* self, int code, int version);
  static const Registration* find_custom(void* self, const char* name, int version);
  const Registration* chosen(const Registration* found) const;

  // The C++ objects hold a few maps: far below this.
  static constexpr size_t kRoom = 4096;
  alignas(16) std::byte object_[kRoom] = {};
  const Api* api_ = nullptr;
  bool reference_ = false;
  bool tapped_ = false;
};

}  // namespace paritas::tflite
