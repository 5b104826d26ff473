#include "paritas/locate/cross_worker.h"

#include <fmt/format.h>

#include "paritas/recording/named_tensors.h"
#include "paritas/runtime/marked_run.h"

namespace paritas {

using onnx_model::Halves;
using onnx_model::Model;

Result<NamedTensors> inputs_of(const Model& model, const NamedTensors& known, const NamedTensors& more) {
  NamedTensors fed;
  for (const auto& input : onnx_model::describe_inputs(model)) {
    const Tensor* tensor = find_tensor(more, input.name);
    if (tensor == nullptr) tensor = find_tensor(known, input.name);
    if (tensor == nullptr)
      return runtime_error(model.subject(), fmt::format("nothing was computed for \"{}\"", input.name));
    fed.emplace_back(input.name, *tensor);
  }
  return fed;
}

Result<Runner*> CrossWorker::runner() {
  if (!runner_) {
    PARITAS_ASSIGN(runner_, request_.start(fmt::format("{}-{}", role_, starts_++), target_));
  }
  return &*runner_;
}

Result<CrossRun> CrossWorker::run(const Model& model, const NamedTensors& inputs, int runs) {
  auto result = attempt(model, inputs, runs);
  if (!result) runner_.reset();
  return result;
}

Result<CrossRun> CrossWorker::attempt(const Model& model, const NamedTensors& inputs, int runs) {
  PARITAS_ASSIGN(Runner * runner, this->runner());
  ++sessions_;
  PARITAS_ASSIGN(Session session, runner->open(model));
  identity_ = runner->worker().identity();
  std::vector<std::string> fetch;  // sequences cannot be compared
  for (const PortInfo& port : session.info().outputs)
    if (port.dtype) fetch.push_back(port.name);
  RunReply reply;
  for (int i = 0; i < runs; ++i) {
    PARITAS_ASSIGN(reply, session.run(inputs, fetch));
  }
  return CrossRun{std::move(reply.outputs), session.info()};
}

Result<std::unordered_map<std::string, Tensor>> CrossWorker::all_tensors(const Model& model,
                                                                         const NamedTensors& inputs) {
  PARITAS_ASSIGN(const auto index, onnx_model::GraphIndex::build(model));
  const auto dependence = onnx_model::value_dependence(model, index);
  MarkedRequest marked;
  marked.model = &model;
  marked.inputs = inputs;
  marked.memory_budget = request_.memory_budget;
  for (const auto& node : index.nodes())
    for (const auto& output : node.outputs)
      if (dependence.depends(output) && !index.is_output(output)) marked.marks.push_back(output);
  PARITAS_ASSIGN(Runner * runner, this->runner());
  PARITAS_ASSIGN(MarkedRun run, run_marked(*runner, marked));
  return std::move(run.tensors);
}

NamedTensors outputs_from(const CrossMatrixRequest& request, const NamedTensors& front, const NamedTensors& rear) {
  NamedTensors outputs;
  for (const auto& name : request.index->outputs()) {
    const Tensor* tensor = find_tensor(rear, name);
    if (tensor == nullptr) tensor = find_tensor(front, name);
    if (tensor == nullptr) tensor = find_tensor(request.inputs, name);
    if (tensor != nullptr) outputs.emplace_back(name, *tensor);
  }
  return outputs;
}

Result<Composed> compose_on(const CrossMatrixRequest& request, CrossWorker& worker, const Halves& halves) {
  PARITAS_ASSIGN(const auto fed, inputs_of(halves.front, request.inputs, {}));
  PARITAS_ASSIGN(CrossRun front, worker.run(halves.front, fed));
  PARITAS_ASSIGN(const auto handed, inputs_of(halves.rear, request.inputs, front.outputs));
  PARITAS_ASSIGN(CrossRun rear, worker.run(halves.rear, handed));
  NamedTensors outputs = outputs_from(request, front.outputs, rear.outputs);
  return Composed{std::move(front.outputs), std::move(outputs)};
}

}  // namespace paritas
