// The worker's side of the control channel. This is the only code of the library that ends its process: it is the
// process.
#include <poll.h>
#include <unistd.h>
#include <csignal>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "paritas/runtime/line_channel.h"
#include "paritas/runtime/litert/session.h"
#include "paritas/runtime/ort/chain.h"
#include "paritas/runtime/ort/session.h"
#include "paritas/runtime/protocol.h"
#include "paritas/runtime/tflite/session.h"
#include "paritas/runtime/worker.h"

namespace paritas {
namespace {

constexpr const char* kSubject = "worker";

// A line of /proc/self/status in bytes. VmHWM is the peak: unlike ru_maxrss it starts at exec, not with the parent's
// size at fork. VmRSS is what is resident now.
uint64_t resident(const char* field) {
  uint64_t kilobytes = 0;
  if (std::FILE* status = std::fopen("/proc/self/status", "re")) {
    char line[256];
    while (std::fgets(line, sizeof line, status) != nullptr) {
      const std::string_view text(line);
      if (text.starts_with(field)) kilobytes = std::strtoull(line + std::strlen(field), nullptr, 10);
    }
    std::fclose(status);
  }
  return kilobytes * 1024;
}

// Vendor code may hang for ever while the main process is gone: a thread of its own watches the channel.
void end_with_the_main_process(int control_read) {
  std::thread([control_read] {
    for (;;) {
      pollfd entry{control_read, POLLRDHUP, 0};
      if (::poll(&entry, 1, -1) > 0 && (entry.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0) ::_exit(0);
    }
  }).detach();
}

class Server {
 public:
  Result<Json> handle(const Json& request) {
    PARITAS_ASSIGN(const std::string op, json_string(request, "op", kSubject));
    if (op == "hello") return hello(request);
    if (op == "open") return open(request);
    if (op == "run") return run(request);
    if (op == "time") return time(request);
    if (op == "close") return close(request);
    return runtime_error(kSubject, fmt::format("unknown request \"{}\"", op));
  }

 private:
  Result<Json> hello(const Json& request) {
    if (backend_ != nullptr) return runtime_error(kSubject, "a runtime is loaded already");
    PARITAS_ASSIGN(const std::string library, json_string(request, "library", kSubject));
    PARITAS_ASSIGN(const RuntimeKind kind, protocol::decode_runtime_kind(request));
    // Runtimes leave files in the folder for temporary files; ours goes when the command ends. No thread runs yet that
    // reads the environment.
    PARITAS_ASSIGN(const std::string scratch, json_string(request, "scratch", kSubject));
    ::setenv("TMPDIR", scratch.c_str(), 1);
    PARITAS_ASSIGN(backend_, load(kind, library, scratch));
    return Json{{"version", backend_->version()}, {"path", backend_->path().string()}};
  }

  static Result<std::unique_ptr<Backend>> load(RuntimeKind kind, const Path& library, const Path& scratch) {
    switch (kind) {
      case RuntimeKind::kOnnxRuntime:
        return ort::Environment::create(library);
      case RuntimeKind::kTflite:
        return tflite::load_backend(library, scratch);
      case RuntimeKind::kLitert:
        return litert::load_backend(library, scratch);
    }
    return runtime_error(kSubject, "unknown runtime");
  }

  Result<Json> open(const Json& request) {
    if (backend_ == nullptr) return runtime_error(kSubject, "no runtime is loaded");
    PARITAS_ASSIGN(const SessionRequest wanted, protocol::decode_session_request(request));
    PARITAS_ASSIGN(const std::string trace_folder, json_string(request, "trace_folder", kSubject));
    PARITAS_ASSIGN(auto session, backend_->open(wanted, trace_folder));
    SessionInfo info = session->info();
    info.id = next_++;
    sessions_[info.id] = std::move(session);
    return protocol::encode(info);
  }

  Result<Json> run(const Json& request) {
    PARITAS_ASSIGN(const auto found, find(request));
    PARITAS_ASSIGN(const Json* input_list, json_array(request, "inputs", kSubject));
    BackendSession::Order order;
    PARITAS_ASSIGN(order.inputs, protocol::decode_tensors(*input_list));
    PARITAS_ASSIGN(const Json* perturb_list, json_array(request, "perturb", kSubject));
    PARITAS_ASSIGN(const Json* add_list, json_array(request, "add", kSubject));
    PARITAS_ASSIGN(order.injection.replace, protocol::decode_tensors(*perturb_list));
    PARITAS_ASSIGN(order.injection.add, protocol::decode_tensors(*add_list));
    PARITAS_ASSIGN(order.fetch, protocol::decode_names(request, "fetch"));
    PARITAS_ASSIGN(order.steps, json_uint(request, "steps", kSubject));
    PARITAS_ASSIGN(const std::string output, json_string(request, "output", kSubject));
    PARITAS_ASSIGN(const BackendSession::Ran ran, found->second->run(order, output));
    return Json{{"seconds", ran.seconds},
                {"outputs", encode_outputs(ran.outputs)},
                {"calls", protocol::encode_calls(ran.calls)}};
  }

  static Json encode_outputs(const std::vector<StoredOutput>& outputs) {
    Json array = Json::array();
    for (const StoredOutput& each : outputs)
      array.push_back(Json::array({each.name, name(each.dtype), each.shape, each.offset}));
    return array;
  }

  Result<Json> time(const Json& request) {
    PARITAS_ASSIGN(const TimeRequest wanted, protocol::decode_time_request(request));
    std::vector<ort::Session*> sessions;
    for (const ChainLink& link : wanted.chain) {
      PARITAS_ASSIGN(const auto found, find(Json{{"session", link.session}}));
      auto* session = dynamic_cast<ort::Session*>(found->second.get());
      if (session == nullptr)
        return usage_error(kSubject, "only sessions of ONNX Runtime can be timed", "time an ONNX model");
      sessions.push_back(session);
    }
    PARITAS_ASSIGN(const std::string output, json_string(request, "output", kSubject));
    PARITAS_ASSIGN(const ort::ChainTimes times, ort::time_chain(sessions, wanted, output + ".first", output + ".last"));
    Json runs = Json::array();
    for (const TimedRun& run : times.runs) {
      Json row = Json::array({run.chain});
      for (double stage : run.stages) row.push_back(stage);
      runs.push_back(std::move(row));
    }
    return Json{{"runs", std::move(runs)},
                {"first", encode_outputs(times.first)},
                {"last", encode_outputs(times.last)},
                {"differing", times.differing},
                {"first_differing", times.first_differing ? Json(*times.first_differing) : Json(nullptr)},
                {"resident", resident("VmRSS:")},
                {"cpu_seconds", times.cpu_seconds}};
  }

  Result<Json> close(const Json& request) {
    PARITAS_ASSIGN(const auto found, find(request));
    sessions_.erase(found);
    return Json::object();
  }

  using Sessions = std::map<int64_t, std::unique_ptr<BackendSession>>;
  Result<Sessions::iterator> find(const Json& request) {
    PARITAS_ASSIGN(const int64_t id, json_int(request, "session", kSubject));
    auto found = sessions_.find(id);
    if (found == sessions_.end()) return runtime_error(kSubject, fmt::format("there is no session {}", id));
    return found;
  }

  std::unique_ptr<Backend> backend_;  // outlives the sessions
  Sessions sessions_;
  int next_ = 1;
};

std::string answer(Server& server, const std::string& line, bool& quit) {
  Result<Json> reply = runtime_error(kSubject, "no reply");
  auto request = parse_json(line, "worker request");
  if (!request) {
    reply = tl::make_unexpected(request.error());
  } else if (auto op = json_string(*request, "op", kSubject); op && *op == "quit") {
    quit = true;
    reply = Json::object();
  } else {
    reply = server.handle(*request);
  }
  Json json = reply ? std::move(*reply) : protocol::encode_error(reply.error());
  if (reply) json["ok"] = true;
  json["peak"] = resident("VmHWM:");
  return dump_json(json, -1);
}

}  // namespace

int worker_main(int control_read, int control_write) {
  std::signal(SIGPIPE, SIG_IGN);
  end_with_the_main_process(control_read);
  LineChannel channel(control_read, control_write);
  Server server;
  bool quit = false;
  while (!quit) {
    std::string line;
    if (channel.receive(line, std::nullopt) != LineChannel::End::kNone) return 1;
    if (channel.send(answer(server, line, quit), std::nullopt) != LineChannel::End::kNone) return 1;
  }
  return 0;
}

}  // namespace paritas
