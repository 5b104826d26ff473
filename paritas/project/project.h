// The project file paritas.toml (schema paritas.project/1): what is compared with what, fed with what, and judged by
// what. docs/project-file.md describes every key. Reading it opens no other file and runs nothing.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "paritas/board/board.h"
#include "paritas/compare/compare.h"
#include "paritas/image/pipeline.h"
#include "paritas/task/classification.h"
#include "paritas/task/command_hook.h"
#include "paritas/task/detection.h"

namespace paritas {

inline constexpr const char* kProjectSchema = "paritas.project/1";

struct ProjectModel {
  std::string reference;  // file; empty: none
  std::string device;     // the reference's unless another is declared
  std::map<std::string, int64_t> dims;
};

// Where the values of an input come from.
enum class InputSource { kNone, kFiles, kImages, kValue };

struct ProjectInput {
  std::string name;
  InputSource source = InputSource::kNone;  // kNone: only its quantisation is declared
  std::vector<std::string> files;           // tensors or images, one a sample
  std::optional<Pipeline> steps;            // of images
  std::vector<double> values;               // of kValue; whole numbers up to 2^53 are exact
  std::optional<DType> dtype;               // of kValue and of raw files
  std::optional<Shape> shape;
  std::optional<QuantisationRule> quantisation;  // between a float and a quantised side
  std::string meaning;                           // to an application, in words; empty: none
};

// A recording, or what another tool wrote.
struct ProjectRecording {
  std::string path;
  std::string format, runner;            // ImportOptions
  std::string model, names, input_list;  // files; empty: none
  std::map<std::string, DType> dtypes;
  std::map<std::string, Shape> shapes;
  std::optional<DType> dtype;
  bool outputs_only = false;
};

// One side of the comparison: run through Paritas, or read from disk.
struct ProjectSide {
  std::string target;  // empty: a recording
  std::optional<ProjectRecording> recording;
};

// What a side is fed with: the declared inputs, or, for the float twin of a quantised network, their values before they
// became codes, or the values that the codes stand for.
enum class Feed { kDeclared, kFloat, kDequantised };

// Beside reference and device: the board's CPU, another version of the runtime, the float network.
struct NamedSide {
  std::string name;
  ProjectSide side;
  std::string model;  // empty: the device's
  Feed feed = Feed::kDeclared;
};

struct ProjectOutput {
  std::string name;
  std::string role;                          // empty: none
  std::optional<Quantisation> quantisation;  // of integers whose recording has none
  std::string meaning;                       // to an application, in words; empty: none
};

struct ProjectTask {
  std::string name;
  std::variant<ClassificationSpec, DetectionSpec, CommandSpec> spec;
  std::string labels;                // file with class labels; classification only
  std::vector<std::string> outputs;  // that the task judges, by the reference's names
};

struct LocateStep {
  uint64_t sample = 0;
  bool always = false;  // else only when the verdict is no pass
  std::optional<double> injection_seconds;
  std::vector<std::string> cuts;  // names of [cuts]: a cross matrix for each
  bool only_cuts = false;         // and nothing else
};

// Does the model read its size input as [width, height] or as [height, width]?
struct SizeProbeStep {
  std::string input;
  std::string boxes;  // output
  BoxFormat format = BoxFormat::kXyxy;
  std::string order;  // declared: "wh", "hw", or empty
};

using ProjectStep = std::variant<LocateStep, SizeProbeStep>;

struct NamedPositions {
  std::string name;
  std::vector<std::string> tensors;
};

// How `paritas split` delivers the model.
struct ProjectPart {
  std::string name, target;
};
struct ProjectPackage {
  bool declared = false;
  std::vector<std::string> cuts;      // names of [cuts], in the order of the parts; empty: the only one there is
  std::vector<ProjectPart> parts;     // empty: the device's target, then the CPU
  std::vector<std::string> boundary;  // names of the tensors handed over; empty: feature_0, feature_1...
  GateSet cpu_gates;                  // of CPU parts fed with the reference's tensors; empty: the project's gates
};

struct Project {
  std::string subject;  // of errors: the file
  std::string sha256;   // of the file's bytes
  ProjectModel model;
  std::vector<ProjectInput> inputs;
  ProjectSide reference, device;
  std::vector<NamedSide> further;
  std::map<std::string, Board> boards;  // of [exec.NAME]
  std::vector<std::string> marks;       // intermediates to record in runs
  std::vector<ProjectOutput> outputs;
  PairingRules pairing;
  std::vector<RankedPair> ranked;
  bool inputs_unverified = false;
  std::vector<ProjectTask> tasks;
  Json tasks_json = Json::array();  // the same as declared
  ProjectPackage package;
  std::vector<NamedPositions> cuts;
  std::vector<std::string> probes;  // nodes, tensors or patterns, in the user's order
  GateSet gates;
  std::vector<ProjectStep> steps;  // beside the comparison and the tasks

  bool declares_inputs() const {
    return std::any_of(inputs.begin(), inputs.end(),
                       [](const ProjectInput& input) { return input.source != InputSource::kNone; });
  }
  bool runs_anything() const {
    return !reference.target.empty() || !device.target.empty() ||
           std::any_of(further.begin(), further.end(), [](const NamedSide& f) { return !f.side.target.empty(); });
  }
};

// Roles that [outputs.NAME] may declare: a misspelt one would leave its gates without effect.
const std::vector<std::string>& known_roles();

Result<Project> parse_project(const std::string& text, const std::string& subject);
Result<Project> load_project(const Path& file);

}  // namespace paritas
