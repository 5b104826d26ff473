// What an ONNX or TFLite model declares of its tensors: where names, types and shapes come from when a dump does not
// hold them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "paritas/base/files.h"
#include "paritas/recording/provenance.h"

namespace paritas {

struct ModelTensor {
  std::string name;
  Role role = Role::kIntermediate;
  std::optional<DType> dtype;
  std::optional<Shape> shape;  // -1: free dimension
};

// How the name of a dump's tensor led to one of the model.
enum class NameRule {
  kExact,
  kSlash,      // behind a "/", which no file below a folder can keep
  kSanitised,  // as vendor tools write names: a trailing ":0" left out, every character but letters and digits "_"
};

struct ModelMatch {
  const ModelTensor* tensor = nullptr;
  NameRule rule = NameRule::kExact;
  std::vector<std::string> candidates;  // several that fit the rule equally: then `tensor` is null
};

class ModelFacts {
 public:
  static Result<ModelFacts> load(const Path& path);

  const std::string& path() const { return path_; }  // empty: no model
  const std::string& sha256() const { return sha256_; }
  int64_t ir_version() const { return ir_version_; }
  const std::map<std::string, int64_t>& opsets() const { return opsets_; }
  const std::string& producer() const { return producer_; }
  const std::vector<std::string>& inputs() const { return inputs_; }  // without initialisers, in the model's order
  const std::vector<std::string>& outputs() const { return outputs_; }

  // By the first rule that fits. A sanitised name may or may not have kept the "_" of a
  // leading "/": with it, the tensors that start so are tried first; without it, all are.
  ModelMatch match(const std::string& name) const;
  const ModelTensor* find(const std::string& name) const { return match(name).tensor; }

 private:
  using Index = std::multimap<std::string, std::string>;
  Status take_tflite(const Path& path);
  Status take_onnx(const Path& path);
  void add(ModelTensor tensor);
  ModelMatch sanitised(const Index& index, const std::string& name) const;

  std::string path_;
  std::string sha256_;
  int64_t ir_version_ = 0;
  std::map<std::string, int64_t> opsets_;
  std::string producer_;
  std::vector<std::string> inputs_;
  std::vector<std::string> outputs_;
  std::map<std::string, ModelTensor> tensors_;
  Index sanitised_;  // sanitised name -> name
  Index stripped_;   // the same without "_" in front
};

}  // namespace paritas
