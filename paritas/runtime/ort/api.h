// The only place that includes ONNX Runtime's headers. The library is opened at run time (ort/library.h), never linked;
// nothing outside runtime/ort and runtime/sim includes this file.
#pragma once

#include <exception>
#include <string>
#include <utility>

#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>

#include "paritas/base/error.h"

namespace paritas::ort {

// The oldest ONNX Runtime that we work with, as API number (1.24). No function that is newer than this may be called
// without asking api_version() first: the C++ wrappers read past the end of an older library's table.
inline constexpr uint32_t kMinimumApi = 24;
inline constexpr uint32_t kNewestApi = 29;  // what this code was written against

// API number agreed with the loaded library; 0 before load_library().
uint32_t api_version();

// A runtime error that carries the library's message. Long or multi-line messages go to Error.details as a whole, and
// only their first line to the sentence.
Unexpected ort_error(const std::string& subject, const std::string& doing, const std::string& message);

// Runs `body` and turns any exception into an error; `doing` completes "ONNX Runtime failed while ...".
template <class Body>
auto guarded(const std::string& subject, const std::string& doing, Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::exception& e) {  // Ort::Exception is one
    return ort_error(subject, doing, e.what());
  } catch (...) {
    return ort_error(subject, doing, "an exception that is no std::exception");
  }
}

}  // namespace paritas::ort
