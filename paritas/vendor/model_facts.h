// What an ONNX model declares of its tensors: where names, types and shapes come from when a dump does not hold them.
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

  // The tensor of that name; else the one that is called so behind a "/" (no file below a folder can keep it); else the
  // only one whose name equals `name` when a trailing ":0" is left out and every character but letters and digits is
  // replaced by '_', as vendor tools write file names.
  const ModelTensor* find(const std::string& name) const;

 private:
  void add(ModelTensor tensor);

  std::string path_;
  std::string sha256_;
  int64_t ir_version_ = 0;
  std::map<std::string, int64_t> opsets_;
  std::string producer_;
  std::vector<std::string> inputs_;
  std::vector<std::string> outputs_;
  std::map<std::string, ModelTensor> tensors_;
  std::multimap<std::string, std::string> sanitised_;  // sanitised name -> name
};

}  // namespace paritas
