#include "paritas/runtime/worker.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>

#include <fmt/format.h>

#include "paritas/runtime/child_process.h"
#include "paritas/runtime/library_hash.h"
#include "paritas/runtime/line_channel.h"
#include "paritas/runtime/protocol.h"

namespace paritas {
namespace {

using End = LineChannel::End;
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

constexpr const char* kSubject = "worker";
constexpr auto kPatienceAtQuit = std::chrono::milliseconds(2000);
constexpr auto kPatienceAfterEnd = std::chrono::milliseconds(5000);
constexpr size_t kDetailBytes = 4000;

// A file that is unlinked when the last tensor in it is gone.
Result<std::shared_ptr<const File>> open_temporary(const Path& path) {
  PARITAS_ASSIGN(std::shared_ptr<const File> file, File::open(path));
  const File* raw = file.get();
  return std::shared_ptr<const File>(raw, [file = std::move(file), path](const File*) { ::unlink(path.c_str()); });
}

// Tail of a text file; empty when it cannot be read.
std::string tail_of(const Path& path, size_t limit) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  struct stat info {};
  std::string text;
  if (::fstat(descriptor, &info) == 0) {
    text.resize(std::min<size_t>(limit, static_cast<size_t>(info.st_size)));
    const ssize_t got = ::pread(descriptor, text.data(), text.size(), info.st_size - static_cast<off_t>(text.size()));
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  }
  ::close(descriptor);
  return text;
}

}  // namespace

struct Worker::Impl {
  explicit Impl(WorkerOptions given) : options(std::move(given)) {}

  WorkerOptions options;
  Path log;
  std::optional<ChildProcess> child;
  std::unique_ptr<LineChannel> channel;
  std::mutex one_request;     // requests of several threads queue up
  std::optional<Error> dead;  // why the worker runs no more
  std::atomic<uint64_t> peak{0};
  int next_file = 0;

  mutable std::mutex identity_mutex;
  mutable RuntimeIdentity identity;
  mutable std::shared_future<Result<std::string>> runtime_hash;
  mutable std::shared_future<Result<std::string>> provider_hash;

  Status launch();
  // Sends a request and awaits the reply. `doing` completes "the worker crashed while ...".
  Result<Json> ask(const Json& request, const std::string& doing, std::chrono::seconds patience = {});
  Unexpected give_up(End end, const std::string& doing, std::chrono::seconds patience);
  Unexpected fail(std::string cause, std::string remedy);
  Path next_path(const char* kind) { return options.scratch / fmt::format("{}-{:06}.tensors", kind, next_file++); }
  Result<NamedTensors> in_files(const NamedTensors& tensors);
  // `key`: where the reply lists them.
  Result<NamedTensors> received(const Json& reply, const char* key, const Path& path);
};

Status Worker::Impl::launch() {
  std::error_code code;
  std::filesystem::create_directories(options.scratch, code);
  if (code) return runtime_error(options.scratch.string(), fmt::format("cannot be created: {}", code.message()));
  options.scratch = std::filesystem::absolute(options.scratch);
  log = options.scratch / "worker.log";
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return runtime_error(kSubject, fmt::format("no control channel: {}", errno_text(errno)));
  channel = std::make_unique<LineChannel>(ends[0], ends[0]);
  const std::string theirs = std::to_string(ends[1]);
  auto started = ChildProcess::start({options.executable, {"worker", "--control", theirs, theirs}, log, ends[1]});
  ::close(ends[1]);
  if (!started) return tl::make_unexpected(std::move(started).error());
  child.emplace(std::move(*started));
  return {};
}

Unexpected Worker::Impl::fail(std::string cause, std::string remedy) {
  child->kill();
  dead = Error{ErrorKind::kRuntime, kSubject, std::move(cause), std::move(remedy), tail_of(log, kDetailBytes)};
  return tl::make_unexpected(*dead);
}

Unexpected Worker::Impl::give_up(End end, const std::string& doing, std::chrono::seconds patience) {
  if (end == End::kTimeout)
    return fail(fmt::format("no answer within {} s while {}; the worker was killed",
                            (options.timeout + patience).count(), doing),
                "allow it more time, or leave out what takes so long");
  if (end == End::kTooLong) return fail(fmt::format("the reply never ended while {}", doing), {});
  if (end == End::kFailed) return fail(fmt::format("the control channel failed while {}", doing), {});
  if (!child->wait(kPatienceAfterEnd)) return fail(fmt::format("the worker closed its channel while {}", doing), {});
  return fail(fmt::format("the worker {} ({}) while {}", child->ended_by_signal() ? "crashed" : "ended",
                          child->how_it_ended(), doing),
              {});
}

Result<Json> Worker::Impl::ask(const Json& request, const std::string& doing, std::chrono::seconds patience) {
  if (dead) {
    Error error = *dead;
    error.cause = fmt::format("no longer runs: {}", error.cause);
    return tl::make_unexpected(std::move(error));
  }
  const auto deadline = LineChannel::Clock::now() + options.timeout + patience;
  if (const End end = channel->send(dump_json(request, -1), deadline); end != End::kNone)
    return give_up(end, doing, patience);
  std::string line;
  if (const End end = channel->receive(line, deadline); end != End::kNone) return give_up(end, doing, patience);
  auto reply = parse_json(line, kSubject);
  const auto ok = reply && reply->is_object() ? reply->find("ok") : Json::iterator();
  if (!reply || !reply->is_object() || ok == reply->end() || !ok->is_boolean())
    return fail(fmt::format("the reply was malformed while {}", doing), {});
  if (auto bytes = json_uint(*reply, "peak", kSubject)) peak = *bytes;
  if (!ok->get<bool>()) return tl::make_unexpected(protocol::decode_error(*reply));
  return std::move(*reply);
}

// Writes tensors that lie in memory to a scratch file; those in files stay where they are.
Result<NamedTensors> Worker::Impl::in_files(const NamedTensors& tensors) {
  constexpr uint64_t kAlignment = 64;
  static constexpr std::byte kPadding[kAlignment] = {};
  std::optional<AtomicFile> file;
  Path path;
  NamedTensors result = tensors;
  std::vector<std::pair<size_t, uint64_t>> moved;  // index, offset
  for (size_t i = 0; i < result.size(); ++i) {
    const Tensor& tensor = result[i].second;
    if (tensor.bytes.file() != nullptr) continue;
    if (!file) {
      path = next_path("input");
      PARITAS_ASSIGN(AtomicFile created, AtomicFile::create(path, /*overwrite=*/true));
      file.emplace(std::move(created));
    }
    if (const uint64_t over = file->written() % kAlignment; over != 0)
      PARITAS_TRY(file->write(std::span(kPadding).first(kAlignment - over)));
    moved.emplace_back(i, file->written());
    PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor));
    PARITAS_TRY(file->write(view.bytes()));
  }
  if (!file) return result;
  PARITAS_TRY(file->commit());
  PARITAS_ASSIGN(const auto shared, open_temporary(path));
  for (const auto& [index, offset] : moved) {
    Tensor& tensor = result[index].second;
    tensor.bytes = Bytes::in_file(shared, offset, tensor.bytes.size());
  }
  return result;
}

Result<NamedTensors> Worker::Impl::received(const Json& reply, const char* key, const Path& path) {
  PARITAS_ASSIGN(const auto file, open_temporary(path));
  PARITAS_ASSIGN(const Json* list, json_array(reply, key, kSubject));
  NamedTensors outputs;
  outputs.reserve(list->size());
  for (const Json& row : *list) {
    if (!row.is_array() || row.size() != 4 || !row[0].is_string() || !row[3].is_number_unsigned())
      return runtime_error(kSubject, "an output in the reply is malformed");
    PARITAS_ASSIGN(const DType dtype, protocol::decode_dtype(row[1]));
    PARITAS_ASSIGN(Shape shape, protocol::decode_shape(row[2]));
    PARITAS_ASSIGN(const uint64_t count, element_count(shape));
    const auto offset = row[3].get<uint64_t>();
    const uint64_t size = byte_size(dtype, count);
    if (offset > file->size() || size > file->size() - offset)
      return runtime_error(path.string(), "is shorter than the worker's reply says");
    PARITAS_ASSIGN(Tensor tensor,
                   make_tensor(dtype, std::move(shape), Bytes::in_file(file, offset, size), path.string()));
    outputs.emplace_back(row[0].get<std::string>(), std::move(tensor));
  }
  return outputs;
}

Worker::Worker(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Worker::~Worker() {
  if (!impl_ || !impl_->child) return;
  if (!impl_->dead &&
      impl_->channel->send(R"({"op":"quit"})", LineChannel::Clock::now() + kPatienceAtQuit) == End::kNone)
    impl_->child->wait(kPatienceAtQuit);
  impl_->child->kill();
}

Result<std::unique_ptr<Worker>> Worker::start(const WorkerOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  Impl& state = *impl;
  PARITAS_TRY(state.launch());
  std::unique_ptr<Worker> worker(new Worker(std::move(impl)));
  const bool onnx = options.runtime == RuntimeKind::kOnnxRuntime;
  const Path& library = onnx ? options.onnxruntime : options.library;
  PARITAS_ASSIGN(const Json reply, state.ask({{"op", "hello"},
                                              {"runtime", protocol::name(options.runtime)},
                                              {"library", library.string()},
                                              {"scratch", options.scratch.string()}},
                                             onnx ? "loading ONNX Runtime" : "loading the runtime"));
  PARITAS_ASSIGN(state.identity.version, json_string(reply, "version", kSubject));
  PARITAS_ASSIGN(state.identity.path, json_string(reply, "path", kSubject));
  state.runtime_hash = library_hash(state.identity.path);
  return worker;
}

const RuntimeIdentity& Worker::identity() const {
  std::lock_guard lock(impl_->identity_mutex);
  auto settle = [](std::shared_future<Result<std::string>>& future, std::string& field) {
    if (!future.valid()) return;
    if (const Result<std::string>& hash = future.get()) field = *hash;
    future = {};
  };
  settle(impl_->runtime_hash, impl_->identity.sha256);
  settle(impl_->provider_hash, impl_->identity.provider_library_sha256);
  return impl_->identity;
}

Result<SessionInfo> Worker::open(const SessionRequest& request) {
  std::lock_guard lock(impl_->one_request);
  SessionRequest absolute = request;
  absolute.model = std::filesystem::absolute(request.model);
  Path traces;
  if (request.op_trace && request.target.capabilities.op_trace) {
    traces = impl_->options.scratch / fmt::format("op-trace-{:06}", impl_->next_file++);
    std::error_code code;
    std::filesystem::create_directories(traces, code);
    if (code) return runtime_error(traces.string(), fmt::format("cannot be created: {}", code.message()));
  }
  Json message = protocol::encode(absolute);
  message["op"] = "open";
  message["trace_folder"] = traces.string();
  PARITAS_ASSIGN(const Json reply,
                 impl_->ask(message, fmt::format("opening a session on {}", request.target.spec.text)));
  PARITAS_ASSIGN(SessionInfo info, protocol::decode_session_info(reply));
  if (!request.target.provider_library.empty()) {
    std::lock_guard identity_lock(impl_->identity_mutex);
    impl_->provider_hash = library_hash(request.target.provider_library);
  }
  return info;
}

Result<RunReply> Worker::run(const RunRequest& request) {
  std::lock_guard lock(impl_->one_request);
  PARITAS_ASSIGN(const NamedTensors inputs, impl_->in_files(request.inputs));
  PARITAS_ASSIGN(const NamedTensors perturb, impl_->in_files(request.perturb));
  PARITAS_ASSIGN(const NamedTensors add, impl_->in_files(request.add));
  const Path output = impl_->next_path("output");
  const Json message = {{"op", "run"},
                        {"session", request.session},
                        {"inputs", protocol::encode_tensors(inputs)},
                        {"fetch", protocol::encode_names(request.fetch)},
                        {"steps", request.steps},
                        {"perturb", protocol::encode_tensors(perturb)},
                        {"add", protocol::encode_tensors(add)},
                        {"output", output.string()}};
  PARITAS_ASSIGN(const Json reply, impl_->ask(message, "running the model"));
  RunReply result;
  const auto seconds = reply.find("seconds");
  if (seconds == reply.end() || !seconds->is_number()) return runtime_error(kSubject, "the reply names no time");
  result.seconds = seconds->get<double>();
  PARITAS_ASSIGN(result.calls, protocol::decode_calls(reply));
  PARITAS_ASSIGN(result.outputs, impl_->received(reply, "outputs", output));
  return result;
}

Result<TimeReply> Worker::time(const TimeRequest& request) {
  std::lock_guard lock(impl_->one_request);
  TimeRequest in_files = request;
  PARITAS_ASSIGN(in_files.inputs, impl_->in_files(request.inputs));
  PARITAS_ASSIGN(in_files.against, impl_->in_files(request.against));
  const Path output = impl_->next_path("output");
  Json message = protocol::encode(in_files);
  message["op"] = "time";
  message["output"] = output.string();
  PARITAS_ASSIGN(const Json reply, impl_->ask(message, "timing the model", request.patience));
  PARITAS_ASSIGN(TimeReply result, protocol::decode_time_reply(reply));
  if (result.runs.empty() || std::any_of(result.runs.begin(), result.runs.end(), [&](const TimedRun& run) {
        return run.stages.size() != request.chain.size();
      }))
    return runtime_error(kSubject, "the reply names no time for each run");
  PARITAS_ASSIGN(result.first, impl_->received(reply, "first", output.string() + ".first"));
  result.last = result.first;
  if (result.runs.size() > 1) {
    PARITAS_ASSIGN(result.last, impl_->received(reply, "last", output.string() + ".last"));
  }
  return result;
}

Status Worker::close(int session) {
  std::lock_guard lock(impl_->one_request);
  PARITAS_TRY(impl_->ask({{"op", "close"}, {"session", session}}, "closing a session"));
  return {};
}

std::string Worker::captured_output(size_t limit) const { return tail_of(impl_->log, limit); }

std::optional<Error> Worker::died() const {
  std::lock_guard lock(impl_->one_request);
  // Between requests nobody looks at the process.
  if (!impl_->dead && impl_->child->wait(std::chrono::milliseconds(0)))
    static_cast<void>(impl_->give_up(End::kClosed, "waiting for a request", {}));
  return impl_->dead;
}

uint64_t Worker::peak_resident_bytes() const { return impl_->peak; }

}  // namespace paritas
