// Which cuts one call of locate works on: given ones, those of a cut file, and proposed ones.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "paritas/locate/cross_matrix.h"
#include "paritas/onnx/auto_cuts.h"

namespace paritas {

struct CutRequest {
  std::vector<onnx_model::CutSpec> given;  // --cut, or [cuts] of a project
  std::string given_by = "--cut";          // for messages
  std::optional<Path> file;                // --cuts
  int automatic = 0;                       // --auto-cuts
  bool only = false;                       // leave the rest of the diagnosis away
  JudgeTasks judge_tasks;                  // may be empty
  bool any() const { return !given.empty() || file || automatic > 0; }
};

struct ChosenCuts {
  std::vector<onnx_model::Cut> cuts;
  std::vector<std::string> notes;
};

// Names without one become "cut-N". Errors: a name twice; whatever resolve_cut, the file or the check against the model
// refuses. `bytes` is asked for only when cuts are to be proposed.
Result<ChosenCuts> choose_cuts(const CutRequest& request, const onnx_model::Model& model,
                               const onnx_model::GraphIndex& index, const onnx_model::ValueDependence& dependence,
                               const std::string& model_sha256,
                               const std::function<Result<onnx_model::TensorBytes>()>& bytes);

// What a cut file (schema paritas.cuts/1) says of a tensor beside its name. A name may mean another tensor in the next
// export (names such as "onnx::Mul_123" are numbers), so that all of this must hold again.
struct CutTensorMark {
  std::string tensor;
  std::string op;                      // that makes it; "input" for a graph input
  std::vector<std::string> made_from;  // operators that make the inputs of that node, sorted
  std::vector<std::string> read_by;    // operators that read it, sorted, each once
};
CutTensorMark mark_of(const onnx_model::GraphIndex& index, const onnx_model::ValueDependence& dependence,
                      const std::string& tensor);

struct StoredCut {
  std::string name;
  std::vector<CutTensorMark> tensors;
};

// The text of a cut file.
std::string cut_file_text(const std::string& model, const std::string& model_sha256, const CrossMatrices& matrices,
                          const std::vector<std::vector<CutTensorMark>>& marks);
struct CutFile {
  std::string model_sha256;
  std::vector<StoredCut> cuts;
};
Result<CutFile> parse_cut_file(const std::string& text, const std::string& subject);

// Is the tensor still what it was when the cut was stored? Empty: yes; else what differs.
std::string changed_since(const CutTensorMark& stored, const CutTensorMark& now);

}  // namespace paritas
