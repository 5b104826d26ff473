// Reports: pure functions from result structs to text. Nothing is computed here.
#pragma once

#include <string>
#include <vector>

#include "paritas/base/json.h"
#include "paritas/compare/compare.h"
#include "paritas/compare/many.h"
#include "paritas/compare/result_json.h"
#include "paritas/compare/stored.h"
#include "paritas/inspect/inspect.h"
#include "paritas/locate/inject.h"
#include "paritas/locate/types.h"
#include "paritas/placement/audit_types.h"
#include "paritas/project/types.h"
#include "paritas/report/style.h"

namespace paritas {

std::string terminal(const CompareResult& result, const Style& style);
std::string terminal(const ManyResult& result, const Style& style);
std::string terminal(const BaselineComparison& result, const Style& style);
std::string terminal(const LocateResult& result, const Style& style);
std::string terminal(const InjectResult& result, const Style& style);
std::string terminal(const PlacementResult& result, const Style& style);
std::string terminal(const Inspection& inspection, const Style& style);
std::string terminal(const CheckResult& result, const Style& style);
// As the project writes it, with the whole cross matrix of every step that made one.
Json complete_json(const CheckResult& result);
// The tensors of a comparison with their coverage, without verdict and notes.
std::string comparison_table(const CompareResult& result, const Style& style);
// A simulated format runs on the CPU: without a word that looks like a fallback. Empty for other targets.
std::string simulated_note(const RunInfo& device);

Json to_json(const ManyResult& result);  // schema paritas.compare/1 with "pairs"
Json to_json(const BaselineComparison& result);
Json to_json(const LocateResult& result);    // schema paritas.locate/1
Json to_json(const InjectResult& result);    // schema paritas.inject/1
Json to_json(const Inspection& inspection);  // schema paritas.inspect/1

// One row a tensor and sample; columns name, role, sample, status, verdict, MAE, MSE, CosSim, MaxAbsErr, ... RFC 4180.
std::string csv(const CompareResult& result);
// One test case a tensor and sample; what is not judged is skipped, what is invalid is an error.
std::string junit(const CompareResult& result);
// The same for a check, and a test case a task, a gate on a task and a step that has a verdict.
std::string junit(const CheckResult& result);
// Workflow commands of GitHub Actions: an ::error or ::warning line for everything that is no pass.
std::string github(const CompareResult& result);

}  // namespace paritas
