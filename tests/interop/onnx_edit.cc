// Applies one edit of paritas/onnx to a model, for onnx_edit.py, which runs the result in ONNX Runtime.
//
//   paritas_onnx_edit MODEL FOLDER REQUEST.json
//
// REQUEST: {"edit": NAME, ...}. Writes FOLDER/model.onnx (and model.weights), prints a JSON object. Arrays are .npy
// files.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>

#include "paritas/base/json.h"
#include "paritas/onnx/edit.h"
#include "paritas/tensor/npy.h"

namespace paritas::onnx_model {
namespace {

using Names = std::vector<std::string>;

Result<std::map<std::string, Tensor>> read_tensors(const Json& request) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, file] : request.at("tensors").items()) {
    PARITAS_ASSIGN(tensors[name], read_npy(file.get<std::string>()));
  }
  return tensors;
}

std::map<std::string, TensorType> types_of(const std::map<std::string, Tensor>& tensors) {
  std::map<std::string, TensorType> types;
  for (const auto& [name, tensor] : tensors) types[name] = {tensor.dtype, tensor.shape};
  return types;
}

Names value_dependent_outputs(const GraphIndex& index, const ValueDependence& dependence) {
  Names names;
  for (const auto& node : index.nodes())
    for (const auto& output : node.outputs)
      if (dependence.depends(output)) names.push_back(output);
  return names;
}

// Tensors made by the first half of the value-dependent nodes and read by the rest.
Names middle_cut(const GraphIndex& index, const ValueDependence& dependence) {
  Names names;
  const int half = static_cast<int>(index.nodes().size()) / 2;
  for (int i = 0; i < half; ++i)
    for (const auto& output : index.nodes()[static_cast<size_t>(i)].outputs) {
      const auto& consumers = index.consumers(output);
      if (dependence.depends(output) && !consumers.empty() && consumers.back() >= half) names.push_back(output);
    }
  return names;
}

Result<Model> make_all_local(const Model& model, const Json& request, Json& answer) {
  PARITAS_ASSIGN(const GraphIndex index, GraphIndex::build(model));
  const ValueDependence dependence = value_dependence(model, index);
  PARITAS_ASSIGN(const auto tensors, read_tensors(request));
  const size_t group = request.value("group", size_t{1});
  std::vector<Island> islands;
  std::vector<int> members;
  for (size_t i = 0; i < index.nodes().size(); ++i) {
    const auto& outputs = index.nodes()[i].outputs;
    if (outputs.empty() || !dependence.depends(outputs[0])) continue;
    members.push_back(static_cast<int>(i));
    if (members.size() < group) continue;
    auto island = group_island(model, index, dependence, index.nodes()[i].name, members);
    if (island)
      islands.push_back(std::move(*island));
    else
      for (const int node : members) islands.push_back(single_node_island(model, index, dependence, node));
    members.clear();
  }
  PARITAS_ASSIGN(AllLocal local, all_local(model, index, dependence, islands, types_of(tensors)));
  answer["feeds"] = local.feeds;
  answer["outputs"] = local.outputs;
  answer["islands"] = islands.size();
  return std::move(local.model);
}

Result<Model> inspect(const Model& model, Json& answer) {
  PARITAS_ASSIGN(const GraphIndex index, GraphIndex::build(model));
  const ValueDependence dependence = value_dependence(model, index);
  answer["frontier"] = constant_frontier(model, index, dependence);
  answer["dependent"] = value_dependent_outputs(index, dependence);
  answer["cut"] = middle_cut(index, dependence);
  answer["nodes"] = index.nodes().size();
  Json topk = Json::array();
  for (const auto& node : index.nodes())
    if (node.op == "TopK" || node.op == "ArgMax") topk.push_back(node.outputs.back());
  answer["decisions"] = topk;
  answer["quantized"] = std::any_of(index.nodes().begin(), index.nodes().end(),
                                    [](const auto& node) { return node.op == "QuantizeLinear"; });
  return model.clone();
}

Result<Model> apply(const Model& model, const Json& request, Json& answer) {
  const auto edit = request.at("edit").get<std::string>();
  if (edit == "save") return model.clone();
  if (edit == "inspect") return inspect(model, answer);
  if (edit == "all_local") return make_all_local(model, request, answer);
  if (edit == "mark") return mark_outputs(model, request.at("names").get<Names>());
  if (edit == "extract") {
    PARITAS_ASSIGN(const auto tensors, read_tensors(request));
    return extract(model, request.at("inputs").get<Names>(), request.at("outputs").get<Names>(), types_of(tensors));
  }
  if (edit == "pin") {
    Names pinned;
    PARITAS_ASSIGN(Model result, pin_shapes(model, request.at("shapes").get<std::map<std::string, Shape>>(), &pinned));
    answer["pinned"] = pinned;
    return result;
  }
  if (edit == "interpose") {
    Interpose what;
    what.op_type = request.at("op").get<std::string>();
    what.domain = request.at("domain").get<std::string>();
    what.graph_inputs = what.node_outputs = true;
    what.initializers = request.at("initializers").get<bool>();
    PARITAS_ASSIGN(const GraphIndex index, GraphIndex::build(model));
    what.wanted = [&](const std::string& tensor) {
      const int producer = index.producer(tensor);
      return what.initializers || producer < 0 || index.nodes()[static_cast<size_t>(producer)].op != "Constant";
    };
    return interpose(model, what);
  }
  PARITAS_ASSIGN(const auto tensors, read_tensors(request));
  if (edit == "constants") return replace_by_constants(model, tensors);
  if (edit != "feed") return usage_error(edit, "no such edit");
  PARITAS_ASSIGN(Fed fed, feed_tensors(model, types_of(tensors)));
  answer["feed_names"] = fed.feed_names;
  return std::move(fed.model);
}

Result<Json> run(const Path& path, const Path& folder, const Path& request_file) {
  PARITAS_ASSIGN(const std::string text, read_text(request_file));
  PARITAS_ASSIGN(const Json request, parse_json(text, request_file.string()));
  Json answer = Json::object();
  const auto start = std::chrono::steady_clock::now();
  PARITAS_ASSIGN(const Model model, Model::load(path));
  const auto loaded = std::chrono::steady_clock::now();
  PARITAS_ASSIGN(const Model result, apply(model, request, answer));
  const auto edited = std::chrono::steady_clock::now();
  PARITAS_TRY(GraphIndex::build(result));
  PARITAS_ASSIGN(const auto saved, result.save(folder));
  const std::chrono::duration<double, std::milli> load_time = loaded - start, edit_time = edited - loaded;
  answer["model"] = saved.model.string();
  answer["weight_bytes"] = saved.weight_bytes;
  answer["load_ms"] = load_time.count();
  answer["edit_ms"] = edit_time.count();
  answer["result_nodes"] = result.graph().node_size();
  return answer;
}

}  // namespace
}  // namespace paritas::onnx_model

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s MODEL FOLDER REQUEST.json\n", argv[0]);
    return 2;
  }
  try {
    const auto answer = paritas::onnx_model::run(argv[1], argv[2], argv[3]);
    if (!answer) {
      std::fprintf(stderr, "%s\n", answer.error().message().c_str());
      return 1;
    }
    std::printf("%s\n", paritas::dump_json(*answer).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bad request: %s\n", error.what());
    return 2;
  }
}
