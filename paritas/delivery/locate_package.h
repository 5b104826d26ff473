// `paritas locate MODEL --device package:DIR`: which part of a package departs from the model. A part is an island:
// what it does to the reference's tensors is its local error; alone among reference parts it shows whether it is
// enough.
#pragma once

#include <functional>

#include "paritas/judge/finding.h"
#include "paritas/judge/gates.h"
#include "paritas/locate/cross_matrix_types.h"
#include "paritas/package/package.h"
#include "paritas/recording/sample_stream.h"
#include "paritas/runtime/runner.h"

namespace paritas {

// A tensor that a part makes, against the whole model on the reference.
struct PartTensor {
  std::string name;         // in the package
  std::string source;       // in the model
  PairMetrics accumulated;  // in the chain
  PairMetrics local;        // the part fed with the reference's tensors
};

struct LocatedPart {
  std::string name, file, target;
  PlacementCounts placement;  // of its session
  std::vector<PartTensor> tensors;
  MatrixCell alone;  // outputs with this part from the package and all others on the reference
};

struct PackageLocateResult {
  Verdict verdict = Verdict::kInvalid;  // of the whole package
  std::vector<std::string> reasons;
  std::string model, package, reference;
  std::string manifest_sha256;
  std::vector<std::string> gate_texts;
  std::string gates_sha256;
  std::vector<LocatedPart> parts;
  MatrixCell whole;              // outputs of the chain
  std::string first_divergence;  // the first part that alone is enough; empty: none
  std::vector<Finding> findings;
  std::vector<std::string> notes;
  double seconds = 0;
};

struct PackageLocateRequest {
  Path model, package;
  NamedTensors inputs;
  std::map<std::string, int64_t> dims;
  GateSet gates;  // on outputs of the model
  Target reference;
  RuntimeSearch search;
  WorkerOptions worker;
  Path scratch_root;
  uint64_t memory_budget = uint64_t{1} << 30;
  int threads = 1;
  std::function<void(const std::string& stage)> progress;  // may be empty
};

// Errors: the package was made from another model.
Result<PackageLocateResult> locate_package(const PackageLocateRequest& request);

Json to_json(const PackageLocateResult& result);  // schema paritas.locate-package/1

}  // namespace paritas
