// The part of LiteRT's C interface (CompiledModel) that we use, declared from its documentation: the library is the
// user's own and is opened at run time. It has no headers of its own in the Python package that ships it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "paritas/base/error.h"
#include "paritas/base/files.h"

namespace paritas::litert {

inline constexpr int kMostDimensions = 8;
// Structures that the C interface shares with its users. Layouts as of LiteRT 2.3.0 (x86-64 and AArch64, GCC).
struct Layout {
  unsigned rank : 7;
  unsigned has_strides : 1;
  int32_t dims[kMostDimensions];  // -1: not known
  uint32_t strides[kMostDimensions];
};
static_assert(sizeof(Layout) == 68 && offsetof(Layout, dims) == 4);
struct TensorType {  // LiteRtRankedTensorType
  int element;
  Layout layout;
};
static_assert(sizeof(TensorType) == 72);
struct EnvironmentOption {
  static constexpr int kText = 8;
  int tag;
  struct {
    int type;
    const char* text;
  } value;
};
static_assert(sizeof(EnvironmentOption) == 24);
inline constexpr int kPluginFolder = 0, kDispatchFolder = 1, kLibraryFolder = 22;  // tags
inline constexpr int kCpu = 1, kGpu = 2, kNpu = 4;                                 // accelerators
inline constexpr int kLockRead = 0, kLockWrite = 1;
struct ProfilerEvent {
  static constexpr int kOperator = 2;  // on the interpreter
  static constexpr int kOperatorInDelegate = 8;
  const char* tag;
  int type;
  uint64_t start, elapsed;
  size_t memory_at_begin[3], memory_at_end[3];
  uint64_t metadata[2];
  int source;
};
static_assert(sizeof(ProfilerEvent) == 104);

using Code = int;  // 0: OK

struct Api {
  Code (*create_environment)(int, const EnvironmentOption*, void**);
  void (*destroy_environment)(void*);
  Code (*create_model_from_file)(void*, const char*, void**);
  void (*destroy_model)(void*);
  Code (*get_subgraph)(void*, size_t, void**);
  Code (*input_count)(void*, size_t*);
  Code (*output_count)(void*, size_t*);
  Code (*get_input)(void*, size_t, void**);
  Code (*get_output)(void*, size_t, void**);
  Code (*tensor_type)(void*, TensorType*);
  Code (*create_options)(void**);
  void (*destroy_options)(void*);
  Code (*set_accelerators)(void*, int);
  Code (*create_opaque_options)(const char*, void*, void (*)(void*), void**);
  Code (*add_opaque_options)(void*, void*);  // which then belong to the options
  void (*destroy_opaque_options)(void*);
  Code (*create_compiled)(void*, void*, void*, void**);
  void (*destroy_compiled)(void*);
  Code (*resize_input)(void*, size_t, size_t, const int*, size_t);
  Code (*input_layout)(void*, size_t, size_t, Layout*);
  Code (*output_layouts)(void*, size_t, size_t, Layout*, bool);
  Code (*input_requirements)(void*, size_t, size_t, void**);
  Code (*output_requirements)(void*, size_t, size_t, void**);
  Code (*create_buffer)(void*, const TensorType*, void*, void**);
  void (*destroy_buffer)(void*);
  Code (*buffer_size)(void*, size_t*);  // of the values, without padding
  Code (*lock)(void*, void**, int);
  Code (*unlock)(void*);
  Code (*run)(void*, size_t, size_t, void**, size_t, void**);
  Code (*fully_accelerated)(void*, bool*);
  Code (*get_profiler)(void*, void**);
  Code (*start_profiler)(void*);
  Code (*stop_profiler)(void*);
  Code (*reset_profiler)(void*);
  Code (*event_count)(void*, int*);
  Code (*events)(void*, int, ProfilerEvent*);

  Path path;            // as the loader resolved it
  std::string version;  // of the Python package that holds it: the library tells none; empty: not known

  // Errors: cannot be loaded; is not LiteRT.
  static Result<Api> load(const Path& library);
};

// "status 504: compilation"
std::string status_text(Code status);

}  // namespace paritas::litert
