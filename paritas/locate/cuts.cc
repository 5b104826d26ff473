#include "paritas/locate/cuts.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "paritas/base/json.h"

namespace paritas {
namespace {

constexpr const char* kCutSchema = "paritas.cuts/1";
constexpr uint64_t kLargestCutFile = uint64_t{4} << 20;

using onnx_model::Cut;
using onnx_model::GraphIndex;
using onnx_model::Model;
using onnx_model::ValueDependence;

std::string joined(const std::vector<std::string>& names) {
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

Result<std::vector<std::string>> texts(const Json& object, const char* key, const std::string& subject) {
  PARITAS_ASSIGN(const Json* list, json_array(object, key, subject));
  std::vector<std::string> values;
  for (const Json& item : *list) {
    if (!item.is_string()) return input_error(subject, fmt::format("\"{}\" holds something that is no text", key));
    values.push_back(item.get<std::string>());
  }
  return values;
}

class Chooser {
 public:
  Chooser(const Model& model, const GraphIndex& index, const ValueDependence& dependence)
      : model_(model), index_(index), dependence_(dependence) {}

  Status add(Cut cut, const std::string& subject) {
    if (!names_.insert(cut.name).second)
      return usage_error(subject, fmt::format("two cuts are called \"{}\"", cut.name), "give each its own name");
    tensors_.insert(cut.tensors);
    chosen_.cuts.push_back(std::move(cut));
    return {};
  }

  Status add_given(const CutRequest& request) {
    for (size_t i = 0; i < request.given.size(); ++i) {
      onnx_model::CutSpec spec = request.given[i];
      if (spec.name.empty()) spec.name = fmt::format("cut-{}", i + 1);
      PARITAS_ASSIGN(Cut cut, onnx_model::resolve_cut(model_, index_, dependence_, spec,
                                                      fmt::format("{} {}", request.given_by, spec.name)));
      PARITAS_TRY(add(std::move(cut), request.given_by));
    }
    return {};
  }

  // A stored cut is accepted when each of its tensors is still made by, made from and read by what it was, and the set
  // still separates the graph: whether the model is the same file or not.
  Status add_file(const Path& path, const std::string& model_sha256) {
    PARITAS_ASSIGN(const std::string text, read_text(path, kLargestCutFile));
    PARITAS_ASSIGN(const CutFile file, parse_cut_file(text, path.string()));
    const bool same = file.model_sha256 == model_sha256;
    for (const StoredCut& stored : file.cuts) {
      const std::string subject = fmt::format("{}, cut \"{}\"", path.string(), stored.name);
      std::vector<std::string> tensors;
      for (const CutTensorMark& mark : stored.tensors) {
        if (!index_.is_input(mark.tensor) && index_.producer(mark.tensor) < 0)
          return usage_error(subject, fmt::format("{} has no tensor \"{}\"", model_.subject(), mark.tensor),
                             "the model was exported anew: choose the cut again with --cut");
        const std::string changed = changed_since(mark, mark_of(index_, dependence_, mark.tensor));
        if (!changed.empty())
          return usage_error(
              subject,
              fmt::format("\"{}\" of {} is not the tensor that was cut: {}", mark.tensor, model_.subject(), changed),
              "the name means something else in this model: choose the cut again with --cut");
        tensors.push_back(mark.tensor);
      }
      PARITAS_ASSIGN(Cut cut, onnx_model::check_cut(model_, index_, dependence_, stored.name, tensors, subject));
      PARITAS_TRY(add(std::move(cut), path.string()));
    }
    if (!same)
      chosen_.notes.push_back(fmt::format(
          "{} was written for another file ({}): its {} cut{} validated anew against this one", path.string(),
          file.model_sha256.substr(0, 12), file.cuts.size(), file.cuts.size() == 1 ? " was" : "s were"));
    return {};
  }

  Status add_automatic(int count, const onnx_model::TensorBytes& bytes) {
    auto cuts = onnx_model::propose_cuts(model_, index_, dependence_, count, bytes);
    if (static_cast<int>(cuts.size()) < count)
      chosen_.notes.push_back(fmt::format("{} of {} cuts could be proposed", cuts.size(), count));
    for (Cut& cut : cuts) {
      if (tensors_.count(cut.tensors) != 0) {
        chosen_.notes.push_back(fmt::format("the proposal \"{}\" is one of the given cuts", cut.name));
        continue;
      }
      PARITAS_TRY(add(std::move(cut), "--auto-cuts"));
    }
    return {};
  }

  ChosenCuts take() { return std::move(chosen_); }

 private:
  const Model& model_;
  const GraphIndex& index_;
  const ValueDependence& dependence_;
  ChosenCuts chosen_;
  std::set<std::string> names_;
  std::set<std::vector<std::string>> tensors_;
};

}  // namespace

Result<ChosenCuts> choose_cuts(const CutRequest& request, const Model& model, const GraphIndex& index,
                               const ValueDependence& dependence, const std::string& model_sha256,
                               const std::function<Result<onnx_model::TensorBytes>()>& bytes) {
  Chooser chooser(model, index, dependence);
  PARITAS_TRY(chooser.add_given(request));
  if (request.file) PARITAS_TRY(chooser.add_file(*request.file, model_sha256));
  if (request.automatic > 0) {
    PARITAS_ASSIGN(const auto sizes, bytes());
    PARITAS_TRY(chooser.add_automatic(request.automatic, sizes));
  }
  return chooser.take();
}

CutTensorMark mark_of(const GraphIndex& index, const ValueDependence& dependence, const std::string& tensor) {
  CutTensorMark mark;
  mark.tensor = tensor;
  std::set<std::string> from, by;
  const int producer = index.producer(tensor);
  mark.op = producer < 0 ? "input" : index.nodes()[static_cast<size_t>(producer)].op;
  if (producer >= 0) {
    const auto& node = index.nodes()[static_cast<size_t>(producer)];
    for (const auto* names : {&node.inputs, &node.captures})
      for (const auto& name : *names) {
        const int made_by = index.producer(name);
        if (index.is_input(name)) from.insert("input " + name);
        if (made_by >= 0 && dependence.depends(name)) from.insert(index.nodes()[static_cast<size_t>(made_by)].op);
      }
  }
  for (const int reader : index.consumers(tensor)) by.insert(index.nodes()[static_cast<size_t>(reader)].op);
  mark.made_from.assign(from.begin(), from.end());
  mark.read_by.assign(by.begin(), by.end());
  return mark;
}

std::string changed_since(const CutTensorMark& stored, const CutTensorMark& now) {
  if (stored.op != now.op) return fmt::format("it was made by {}, and is made by {}", stored.op, now.op);
  if (stored.made_from != now.made_from)
    return fmt::format("its {} read what {} made, and reads what {} makes", now.op, joined(stored.made_from),
                       joined(now.made_from));
  if (stored.read_by != now.read_by)
    return fmt::format("it was read by {}, and is read by {}", joined(stored.read_by), joined(now.read_by));
  return {};
}

std::string cut_file_text(const std::string& model, const std::string& model_sha256, const CrossMatrices& matrices,
                          const std::vector<std::vector<CutTensorMark>>& marks) {
  Json cuts = Json::array();
  for (size_t i = 0; i < matrices.cuts.size() && i < marks.size(); ++i) {
    Json tensors = Json::array();
    for (size_t k = 0; k < marks[i].size(); ++k) {
      const CutTensorMark& mark = marks[i][k];
      Json json = {{"tensor", mark.tensor}, {"op", mark.op}, {"made_from", mark.made_from}, {"read_by", mark.read_by}};
      for (const CutTensorRow& row : matrices.cuts[i].tensors)
        if (row.name == mark.tensor) {
          json["dtype"] = name(row.dtype);
          json["shape"] = row.shape;
        }
      tensors.push_back(std::move(json));
    }
    cuts.push_back({{"name", matrices.cuts[i].name}, {"tensors", std::move(tensors)}});
  }
  return dump_json(
             {{"schema", kCutSchema}, {"model", model}, {"model_sha256", model_sha256}, {"cuts", std::move(cuts)}}) +
         "\n";
}

Result<CutFile> parse_cut_file(const std::string& text, const std::string& subject) {
  PARITAS_ASSIGN(const Json json, parse_json(text, subject));
  if (!json.is_object()) return input_error(subject, "is no cut file", "write one with --save-cuts");
  PARITAS_ASSIGN(const std::string schema, json_string(json, "schema", subject));
  if (schema != kCutSchema)
    return input_error(subject, fmt::format("schema \"{}\" is not known", schema),
                       fmt::format("this version reads \"{}\"; write one with --save-cuts", kCutSchema));
  CutFile file;
  PARITAS_ASSIGN(file.model_sha256, json_string(json, "model_sha256", subject));
  PARITAS_ASSIGN(const Json* cuts, json_array(json, "cuts", subject));
  for (const Json& item : *cuts) {
    if (!item.is_object()) return input_error(subject, "\"cuts\" holds something that is no object");
    StoredCut cut;
    PARITAS_ASSIGN(cut.name, json_string(item, "name", subject));
    PARITAS_ASSIGN(const Json* tensors, json_array(item, "tensors", subject));
    for (const Json& entry : *tensors) {
      if (!entry.is_object()) return input_error(subject, "\"tensors\" holds something that is no object");
      CutTensorMark mark;
      PARITAS_ASSIGN(mark.tensor, json_string(entry, "tensor", subject));
      PARITAS_ASSIGN(mark.op, json_string(entry, "op", subject));
      PARITAS_ASSIGN(mark.made_from, texts(entry, "made_from", subject));
      PARITAS_ASSIGN(mark.read_by, texts(entry, "read_by", subject));
      cut.tensors.push_back(std::move(mark));
    }
    if (cut.tensors.empty()) return input_error(subject, fmt::format("the cut \"{}\" has no tensor", cut.name));
    file.cuts.push_back(std::move(cut));
  }
  if (file.cuts.empty()) return input_error(subject, "holds no cut", "write one with --save-cuts");
  return file;
}

}  // namespace paritas
