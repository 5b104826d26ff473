// An external delegate for tests, against the documented binary interface of TensorFlow Lite delegates and nothing of
// its code: claims every float ADD of equal shapes, each as a partition of its own, and rounds the sums to bfloat16, as
// an accelerator of that precision would. Options: claim=none takes nothing; fail=prepare refuses the graph;
// fail=invoke fails when it runs; fail=crash ends the process.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

struct IntArray {
  int size;
  int data[1];
};

struct Tensor {  // TfLiteTensor
  int type;
  void* data;
  IntArray* dims;
  struct {
    float scale;
    int32_t zero_point;
  } params;
  int allocation_type;
  size_t bytes;
  const void* allocation;
  const char* name;
  struct Delegate* delegate;
  int buffer_handle;
  bool data_is_stale, is_variable;
  struct {
    int type;
    void* params;
  } quantization;
  void* sparsity;
  const IntArray* dims_signature;
};

struct Node {  // first members of TfLiteNode
  IntArray *inputs, *outputs, *intermediates, *temporaries;
  void* user_data;
};

struct Registration {  // TfLiteRegistration
  void* (*init)(struct Context*, const char*, size_t);
  void (*free)(struct Context*, void*);
  int (*prepare)(struct Context*, Node*);
  int (*invoke)(struct Context*, Node*);
  const char* (*profiling_string)(const struct Context*, const Node*);
  int32_t builtin_code;
  const char* custom_name;
  int version;
  void* registration_external;
  int (*async_kernel)(struct Context*, Node*);
  uint64_t inplace_operator;
};

struct Context {  // first members of TfLiteContext
  size_t tensors_size;
  int (*get_execution_plan)(Context*, IntArray**);
  Tensor* tensors;
  void* impl;
  int (*resize_tensor)(Context*, Tensor*, IntArray*);
  void (*report_error)(Context*, const char*, ...);
  int (*add_tensors)(Context*, int, int*);
  int (*get_node_and_registration)(Context*, int, Node**, Registration**);
  int (*replace_node_subsets)(Context*, Registration, const IntArray*, struct Delegate*);
};

struct Delegate {  // TfLiteDelegate
  void* data;
  int (*prepare)(Context*, Delegate*);
  void* copy_from;
  void* copy_to;
  void* free_handle;
  int64_t flags;
  void* opaque_builder;
};

constexpr int kFloat32 = 1;
constexpr int kAdd = 0;

std::string fail_at;
bool claims = true;

float to_bfloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits += 0x7fff + ((bits >> 16) & 1);
  bits &= 0xffff0000u;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

int prepare_node(Context*, Node*) { return 0; }

int invoke(Context* context, Node* node) {
  if (fail_at == "crash") std::abort();
  if (fail_at == "invoke") {
    context->report_error(context, "the toy accelerator lost its queue");
    return 1;
  }
  const Tensor& a = context->tensors[node->inputs->data[0]];
  const Tensor& b = context->tensors[node->inputs->data[node->inputs->size - 1]];
  Tensor& out = context->tensors[node->outputs->data[0]];
  for (size_t i = 0; i < out.bytes / sizeof(float); ++i)
    static_cast<float*>(out.data)[i] =
        to_bfloat16(static_cast<const float*>(a.data)[i] + static_cast<const float*>(b.data)[i]);
  return 0;
}

bool takes(Context* context, int index) {
  Node* node = nullptr;
  Registration* registration = nullptr;
  if (context->get_node_and_registration(context, index, &node, &registration) != 0) return false;
  if (registration->builtin_code != kAdd || node->inputs->size != 2) return false;
  const Tensor& a = context->tensors[node->inputs->data[0]];
  const Tensor& b = context->tensors[node->inputs->data[1]];
  return a.type == kFloat32 && b.type == kFloat32 && a.bytes == b.bytes;
}

int prepare(Context* context, Delegate* delegate) {
  if (fail_at == "prepare") {
    context->report_error(context, "the toy accelerator is not present");
    return 1;
  }
  if (!claims) return 0;
  IntArray* plan = nullptr;
  if (context->get_execution_plan(context, &plan) != 0) return 1;
  // The plan changes with every replacement.
  const std::vector<int> order(plan->data, plan->data + plan->size);
  Registration registration{};
  registration.prepare = prepare_node;
  registration.invoke = invoke;
  registration.custom_name = "ToyDelegate";
  registration.version = 1;
  for (const int index : order) {
    if (!takes(context, index)) continue;
    const IntArray one{1, {index}};
    if (context->replace_node_subsets(context, registration, &one, delegate) != 0) return 1;
  }
  return 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) Delegate* tflite_plugin_create_delegate(const char* const* keys,
                                                                                          const char* const* values,
                                                                                          size_t count,
                                                                                          void (*report)(const char*)) {
  fail_at.clear();
  claims = true;
  for (size_t i = 0; i < count; ++i) {
    const std::string key = keys[i], value = values[i];
    if (key == "claim")
      claims = value != "none";
    else if (key == "fail")
      fail_at = value;
    else {
      if (report != nullptr) report(("the toy accelerator has no option " + key).c_str());
      return nullptr;
    }
  }
  auto* delegate = new Delegate{};
  delegate->prepare = prepare;
  return delegate;
}

extern "C" __attribute__((visibility("default"))) void tflite_plugin_destroy_delegate(Delegate* delegate) {
  delete delegate;
}
