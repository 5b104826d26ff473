#include "paritas/placement/live.h"

#include <fmt/format.h>

namespace paritas {
namespace {

Result<Path> make_folder(const Path& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) return runtime_error(folder.string(), fmt::format("cannot be created: {}", code.message()));
  return folder;
}

// What the runtime and the provider wrote; live evidence has no file to name.
void read_profiles(const Path& folder, LiveSession& session) {
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code)) {
    const Path& path = entry.path();
    if (path.extension() == ".json") {
      if (auto profile = read_ort_profile(path)) {
        session.evidence.profile = FromFile<OrtProfile>{{}, std::move(*profile)};
      } else {
        session.notes.push_back("the runtime's profile could not be used: " + profile.error().cause);
      }
    } else if (path.extension() == ".csv") {
      if (auto cycles = read_qnn_cycles(path)) {
        session.evidence.cycles = FromFile<QnnCycles>{{}, std::move(*cycles)};
      } else {
        session.notes.push_back("the provider's cycles could not be used: " + cycles.error().cause);
      }
    }
  }
}

}  // namespace

Result<LiveSession> run_live(const Target& target, const onnx_model::Model& model, const NamedTensors& inputs,
                             WorkerOptions worker, const Path& scratch) {
  PARITAS_ASSIGN(worker.scratch, make_folder(scratch));
  Path profiles;
  if (!inputs.empty()) {
    PARITAS_ASSIGN(profiles, make_folder(scratch / "profiles"));
    profiles = std::filesystem::absolute(profiles);
  }
  PARITAS_ASSIGN(Runner runner, Runner::start(target, worker));
  LiveSession live;
  {
    PARITAS_ASSIGN(Session session, runner.open(model, /*op_trace=*/true, profiles));
    live.info = session.info();
    if (!inputs.empty()) {
      PARITAS_ASSIGN(RunReply reply, session.run(inputs));
      live.outputs = std::move(reply.outputs);
    }
    PARITAS_TRY(session.close());
  }
  live.identity = runner.worker().identity();
  live.evidence.assignment = live.info.assignment;
  if (!profiles.empty()) read_profiles(profiles, live);
  for (const Path& path : live.info.op_traces) {
    if (auto trace = read_qnn_op_trace(path)) {
      live.evidence.op_trace = FromFile<OpTrace>{{}, std::move(*trace)};
    } else {
      live.notes.push_back("the op trace could not be used: " + trace.error().cause);
    }
  }
  if (!live.info.unoptimised_because.empty())
    live.notes.push_back(unoptimised_note(target, live.info.unoptimised_because));
  return live;
}

}  // namespace paritas
