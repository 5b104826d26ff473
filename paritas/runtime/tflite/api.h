// The part of TensorFlow Lite's C interface that we use, declared from its documentation: the library is the user's own
// and is opened at run time. Symbols that an older library lacks are null; whoever needs them says so.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <string>

#include "paritas/base/error.h"
#include "paritas/base/files.h"

namespace paritas::tflite {

// Structures that the C interface shares with its users. Layouts as of TFLite 2.21 (x86-64 and AArch64, GCC).
struct IntArray {
  int size;
  int data[1];  // really `size` of them
};
struct LeadingContext {  // first members of TfLiteContext
  size_t tensors_size;
  void* get_execution_plan;
  void* tensors;
};
struct LeadingNode {  // first members of TfLiteNode
  IntArray* inputs;
  IntArray* outputs;
};
struct Registration {  // TfLiteRegistration
  void* (*init)(void*, const char*, size_t);
  void (*free)(void*, void*);
  int (*prepare)(void*, void*);
  int (*invoke)(void*, LeadingNode*);
  const char* (*profiling_string)(const void*, const void*);
  int32_t builtin_code;
  const char* custom_name;
  int version;
  void* registration_external;
  void* (*async_kernel)(void*, void*);
  uint64_t inplace_operator;
};
struct DelegateParams {  // TfLiteDelegateParams
  void* delegate;
  IntArray* nodes_to_replace;
  IntArray* input_tensors;
  IntArray* output_tensors;
};
struct OpaqueDelegateBuilder {  // TfLiteOpaqueDelegateBuilder
  static constexpr int64_t kAllowDynamicTensors = 1;
  void* data;
  int (*prepare)(void* context, void* delegate, void* data);
  void* copy_from;
  void* copy_to;
  void* free_handle;
  int64_t flags;
};
struct ExternalDelegateOptions {  // TfLiteExternalDelegateOptions
  static constexpr int kMost = 256;
  const char* library;
  int count;
  const char* keys[kMost];
  const char* values[kMost];
  int (*insert)(ExternalDelegateOptions*, const char*, const char*);
};
// TfLiteXNNPackDelegateOptions begins with the number of threads; its size grew from version to version. Returned by
// value in memory that the caller provides, so more room than it needs does no harm.
struct XnnpackOptions {
  int32_t threads;
  int32_t rest[255];
};

struct Api {
  const char* (*version)();
  void* (*model_create_from_file)(const char*);
  void (*model_delete)(void*);
  void* (*options_create)();
  void (*options_delete)(void*);
  void (*options_set_threads)(void*, int32_t);
  void (*options_set_error_reporter)(void*, void (*)(void*, const char*, va_list), void*);
  void (*options_add_delegate)(void*, void*);
  void* (*interpreter_create)(const void*, const void*);
  void (*interpreter_delete)(void*);
  int (*allocate_tensors)(void*);
  int (*invoke)(void*);
  int32_t (*input_count)(const void*);
  void* (*input_tensor)(const void*, int32_t);
  int (*resize_input)(void*, int32_t, const int*, int32_t);
  int32_t (*output_count)(const void*);
  const void* (*output_tensor)(const void*, int32_t);
  int32_t (*tensor_rank)(const void*);
  int32_t (*tensor_dim)(const void*, int32_t);
  size_t (*tensor_bytes)(const void*);
  void* (*tensor_data)(const void*);

  // Null in older libraries.
  void (*options_set_resolver)(void*, const Registration* (*)(void*, int, int),
                               const Registration* (*)(void*, const char*, int), void*);
  void* (*interpreter_create_with_selected_ops)(const void*, const void*);
  const void* (*interpreter_tensor)(const void*, int);
  void* (*xnnpack_create)(const void*);
  void (*xnnpack_delete)(void*);
  XnnpackOptions (*xnnpack_defaults)();
  void* (*external_create)(const ExternalDelegateOptions*);
  void (*external_delete)(void*);
  ExternalDelegateOptions (*external_defaults)(const char*);
  void* (*opaque_delegate_create)(const OpaqueDelegateBuilder*);
  void (*opaque_delegate_delete)(void*);
  int (*context_plan)(void*, IntArray**);
  int (*context_node)(void*, int, void**, void**);
  int (*operator_code)(const void*);
  const char* (*operator_custom_name)(const void*);
  void* (*node_builtin_data)(const void*);

  // The C++ resolvers' own constructors and look-ups: the C interface cannot choose the reference kernels.
  void (*reference_resolver)(void*);
  void (*builtin_resolver)(void*);
  const Registration* (*reference_find)(const void*, int, int);
  const Registration* (*find)(const void*, int, int);
  const Registration* (*find_custom)(const void*, const char*, int);

  Path path;  // as the loader resolved it

  // Errors: cannot be loaded; is not TensorFlow Lite.
  static Result<Api> load(const Path& library);
};

}  // namespace paritas::tflite
