// What goes over the control channel of a worker, as JSON: one object a line, one reply to each request.
//   hello {onnxruntime}                    -> {version, path}
//   open  {model, ..., trace_folder}       -> session info
//   run   {session, inputs, fetch, perturb, add, output} -> {seconds, outputs: [[name, dtype, shape, offset]], calls}
//   time  {chain, inputs, fetch, warm_up, runs, seconds, against, output}
//                                          -> {runs: [[chain, stages...]], first, last: outputs as above, ...}
//   close {session}, quit                  -> {}
// Every reply carries "ok" and, when true, "peak": the worker's peak resident bytes; when false the fields of Error.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "paritas/base/json.h"
#include "paritas/runtime/worker.h"

namespace paritas::protocol {

std::string_view name(RuntimeKind kind);
Result<RuntimeKind> decode_runtime_kind(const Json& object);  // its member "runtime"
Json encode(const Target& target);
Result<Target> decode_target(const Json& json);

Json encode(const SessionRequest& request);
Result<SessionRequest> decode_session_request(const Json& json);

Json encode(const SessionInfo& info);
Result<SessionInfo> decode_session_info(const Json& json);

// RunReply::calls, the member "calls".
Json encode_calls(const std::vector<std::pair<std::string, uint64_t>>& calls);
Result<std::vector<std::pair<std::string, uint64_t>>> decode_calls(const Json& object);

// Tensors of the request must lie in files. `patience` stays with the sender.
Json encode(const TimeRequest& request);
Result<TimeRequest> decode_time_request(const Json& json);
// Without the tensors.
Result<TimeReply> decode_time_reply(const Json& json);

Json encode_error(const Error& error);
Error decode_error(const Json& json);  // fields that are missing or of another type stay empty

// Tensors that lie in a file, by reference. encode_tensors asserts that they do. Decoding checks the range against the
// file and the size against dtype and shape.
Json encode_tensors(const std::vector<std::pair<std::string, Tensor>>& tensors);
Result<std::vector<std::pair<std::string, Tensor>>> decode_tensors(const Json& array);

Json encode_names(const std::vector<std::string>& names);
Result<std::vector<std::string>> decode_names(const Json& object, const char* key);
Result<Shape> decode_shape(const Json& value);
Result<DType> decode_dtype(const Json& value);

}  // namespace paritas::protocol
