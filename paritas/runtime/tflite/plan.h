// What an interpreter is going to run: which operators went to which delegate.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "paritas/runtime/tflite/api.h"

namespace paritas::tflite {

struct Partition {
  std::string delegate;  // as the delegate calls itself
  std::vector<int> ops;  // indices in the model's main graph
};

struct Plan {
  bool known = false;        // the spy was asked, and could read it
  std::vector<int> on_host;  // operators that the interpreter runs itself
  std::vector<Partition> partitions;
};

// A delegate that claims nothing. Added last, it is shown the plan that the delegates before it left.
class Spy {
 public:
  // Null where the library lacks the interface for it: the plan then stays unknown.
  static std::unique_ptr<Spy> make(const Api& api);
  ~Spy();
  Spy(const Spy&) = delete;
  Spy& operator=(const Spy&) = delete;

  void* delegate() const { return delegate_; }
  // What the last interpreter showed of its main graph.
  const Plan& plan() const { return plan_; }
  void forget() { plan_ = {}; }

 private:
  explicit Spy(const Api& api) : api_(api) {}
  static int prepare(void* context, void* delegate, void* self);
  bool read(void* context);

  const Api& api_;
  void* delegate_ = nullptr;
  Plan plan_;
};

}  // namespace paritas::tflite
