// One compiled model of LiteRT with all that it was made from, and its buffers. A fresh one begins with a fresh state.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "paritas/base/shape.h"
#include "paritas/runtime/litert/api.h"
#include "paritas/runtime/target.h"

namespace paritas::litert {

class Compiled {
 public:
  // `model` must have no signatures, so that inputs and outputs are those of its main graph, in order. `subject`: for
  // errors, the file that the user gave. Errors: whatever LiteRT answers with another status than OK. `api` must
  // outlive it.
  static Result<std::unique_ptr<Compiled>> make(const Api& api, const Path& model, const Target& target,
                                                const std::string& subject);
  ~Compiled();
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  size_t inputs() const { return input_types_.size(); }
  size_t outputs() const { return output_types_.size(); }
  // Shapes are those of the model until they are set. Call make_buffers() after the last of them.
  Status resize(size_t input, const Shape& shape);
  Status make_buffers();
  // `size` bytes of an input, written by `fill`.
  template <class Fill>
  Status write(size_t input, size_t size, Fill&& fill) {
    PARITAS_ASSIGN(const std::span<std::byte> bytes, lock(input_buffers_[input], kLockWrite));
    const Status filled = bytes.size() == size ? fill(bytes) : wrong_size(input, size, bytes.size());
    PARITAS_TRY(unlock(input_buffers_[input]));
    return filled;
  }
  template <class Take>
  Status read(size_t output, Take&& take) {
    PARITAS_ASSIGN(const Shape shape, shape_of_output(output));
    PARITAS_ASSIGN(const std::span<std::byte> bytes, lock(output_buffers_[output], kLockRead));
    const Status taken = take(shape, std::span<const std::byte>(bytes));
    PARITAS_TRY(unlock(output_buffers_[output]));
    return taken;
  }
  Status run();

  Result<bool> fully_accelerated() const;
  // Events of operators (tag, type) that were seen since start_profiling(); nothing where the library has no profiler.
  Status start_profiling();
  Result<std::vector<std::pair<std::string, int>>> stop_profiling();

 private:
  Compiled(const Api& api, std::string subject) : api_(api), subject_(std::move(subject)) {}
  Status create(const Path& model, const Target& target);
  Status configure(const Target& target);
  Status add_opaque(const std::string& id, const std::string& text);
  Status read_ports();
  Status check(Code status, const char* doing, const char* remedy = "") const;
  template <class Call>
  Status guarded(Call&& call, const char* doing, const char* remedy) const;
  Status wrong_size(size_t input, size_t given, size_t wanted) const;
  Result<Shape> shape_of_output(size_t output) const;
  Result<std::span<std::byte>> lock(void* buffer, int mode);
  Status unlock(void* buffer);
  void drop_buffers();

  const Api& api_;
  std::string subject_;
  std::vector<std::string> texts_;  // the environment keeps pointers
  void* environment_ = nullptr;
  void* model_ = nullptr;
  void* options_ = nullptr;
  void* compiled_ = nullptr;
  void* profiler_ = nullptr;
  std::vector<TensorType> input_types_, output_types_;
  std::vector<void*> input_buffers_, output_buffers_;
};

}  // namespace paritas::litert
