// Runs a model under the simulator and keeps every tensor, for sim_numpy.py:
//   sim_driver WORKER ONNXRUNTIME SCRATCH MODEL TARGET marks|plain OUTPUT.safetensors NAME=FILE.npy...
// A TARGET of "cpu" runs the model as it is.
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "paritas/onnx/edit.h"
#include "paritas/runtime/sim/simulate.h"
#include "paritas/runtime/worker.h"
#include "paritas/tensor/npy.h"
#include "paritas/tensor/safetensors.h"

namespace paritas {
namespace {

// Every node output of the main graph, under the name that the original model gives it.
std::vector<std::string> node_outputs(const onnx_model::Model& model) {
  std::vector<std::string> names;
  for (const auto& node : model.graph().node()) {
    for (const std::string& output : node.output()) {
      if (!output.empty()) names.push_back(output);
    }
  }
  return names;
}

Status drive(char** arguments, int count) {
  const Path scratch = arguments[3];
  PARITAS_ASSIGN(const TargetSpec spec, TargetSpec::parse(arguments[5]));
  PARITAS_ASSIGN(const Target target, resolve_target(spec, {}));
  PARITAS_ASSIGN(onnx_model::Model model, onnx_model::Model::load(arguments[4]));
  const std::vector<std::string> marks = node_outputs(model);
  if (target.simulate) {
    PARITAS_ASSIGN(model, simulate(model, *target.simulate, scratch));
  }
  if (std::strcmp(arguments[6], "marks") == 0) {
    PARITAS_ASSIGN(model, onnx_model::mark_outputs(model, marks));
  }
  PARITAS_ASSIGN(const auto saved, model.save(scratch));
  PARITAS_ASSIGN(auto worker, Worker::start({arguments[1], scratch / "worker", arguments[2]}));
  PARITAS_ASSIGN(const SessionInfo session, worker->open({saved.model, {}, target, {}, false}));
  RunRequest request{session.id, {}, {}, {}};
  for (int i = 8; i < count; ++i) {
    const std::string argument = arguments[i];
    const size_t equals = argument.find('=');
    PARITAS_ASSIGN(Tensor tensor, read_npy(argument.substr(equals + 1)));
    request.inputs.emplace_back(argument.substr(0, equals), std::move(tensor));
  }
  PARITAS_ASSIGN(const RunReply reply, worker->run(request));
  fmt::print("open {:.3f} s, run {:.3f} s, {} outputs, worker peak {:.0f} MB\n", session.seconds, reply.seconds,
             reply.outputs.size(), static_cast<double>(worker->peak_resident_bytes()) / 1e6);
  return write_safetensors(arguments[7], reply.outputs, {}, /*overwrite=*/true);
}

}  // namespace
}  // namespace paritas

int main(int argc, char** argv) {
  if (argc < 8) return 2;
  const auto status = paritas::drive(argv, argc);
  if (status) return 0;
  fmt::print(stderr, "{}\n{}\n", status.error().message(), status.error().details);
  return 1;
}
