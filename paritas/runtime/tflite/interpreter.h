// One interpreter with all that it was made from. A fresh one begins with a fresh state.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "paritas/runtime/target.h"
#include "paritas/runtime/tflite/kernels.h"
#include "paritas/runtime/tflite/plan.h"

namespace paritas::tflite {

class Interpreter {
 public:
  // `kernels`: null for the library's own choice. All must outlive the interpreter. Errors: the model cannot be opened;
  // a delegate cannot be made; the tensors cannot be allocated.
  static Result<std::unique_ptr<Interpreter>> make(const Api& api, const Path& model, const Target& target,
                                                   Kernels* kernels);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  const Plan& plan() const { return plan_; }
  void* handle() const { return handle_; }
  // Errors of the library, with what it said.
  Status allocate();
  Status invoke();
  Status resize(int input, const std::vector<int>& dims);

 private:
  Interpreter(const Api& api, std::string subject) : api_(api), subject_(std::move(subject)) {}
  Status add_delegates(const Target& target);
  Status add_external(const Target& target);
  Status add_xnnpack(const Target& target);
  Unexpected failed(const std::string& doing, const std::string& remedy = {}) const;
  static void report(void* self, const char* format, va_list arguments);

  const Api& api_;
  std::string subject_;
  std::string said_;  // by the library
  void* model_ = nullptr;
  void* options_ = nullptr;
  void* xnnpack_ = nullptr;
  void* external_ = nullptr;
  std::vector<std::string> option_texts_;  // the external delegate keeps pointers
  std::unique_ptr<Spy> spy_;
  Plan plan_;
  void* handle_ = nullptr;
};

}  // namespace paritas::tflite
