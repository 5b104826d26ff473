// What comparing two packages yields: a description of what changed, no verdict. Plain data; "before" is the first
// package, "after" the second.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paritas/compare/types.h"
#include "paritas/judge/finding.h"
#include "paritas/package/manifest.h"

namespace paritas {

enum class Difference { kSame, kChanged, kAdded, kRemoved };
std::string_view name(Difference difference);  // "same", "changed", "added", "removed"

struct ComparedPackage {
  std::string folder, manifest_sha256, tool_version, created;
  std::string source_name, source_sha256;
};

// One thing that manifests state, and not alike.
struct PackageFact {
  std::string area;                          // "contract", "cut", "parts", ...: see PackageArea
  std::string subject;                       // "input images: meaning"
  std::optional<std::string> before, after;  // absent: not stated there
  bool matters = true;                       // can change what is computed, where, or what an application must do

  Difference difference() const {
    return !before ? Difference::kAdded : !after ? Difference::kRemoved : Difference::kChanged;
  }
};

struct ComparedFile {
  std::string path;
  std::string role;  // "part encoder", "reference", "gates", "labels", "evidence"; "unknown": the manifest does not say
  Difference difference = Difference::kSame;
  std::optional<PackageFile> before, after;
  // Only where nothing else tells what the change means: parts, gates and references are read.
  bool matters = false;
};

// An initialiser, or the value of a Constant node, that is not the same in both.
struct ComparedConstant {
  std::string name;
  std::string after_name;  // where the second model calls it otherwise
  Difference difference = Difference::kChanged;
  std::optional<SideInfo> before, after;
  std::string before_sha256, after_sha256;  // of type, shape and bytes
  std::optional<PairMetrics> metrics;       // changed, and of one shape: before is the reference
  std::string other_part;                   // added or removed: the same values stand in this part of the other package
};

struct OperatorCount {
  std::string op;
  uint64_t before = 0, after = 0;
};

struct ComparedNode {
  std::string name;
  Difference difference = Difference::kChanged;
  std::string op_before, op_after;  // empty: not there
  std::string what;                 // changed: "operator", "attributes", "reads other tensors"
};

// Of an ONNX part.
struct ComparedGraph {
  // Every output is computed by the same operators with the same attributes from the same inputs and constants,
  // whatever they are called and in whatever order they stand. Values of constants that changed are no matter of the
  // graph.
  bool same = true;
  uint64_t nodes_before = 0, nodes_after = 0;  // without those that only hold a constant
  std::vector<OperatorCount> operators;        // whose number differs
  std::vector<ComparedNode> nodes;             // by name; empty where the graph is the same
};

struct ComparedPart {
  std::string name;
  Difference difference = Difference::kSame;
  // What tells: "bytes" (the files are equal), "content" (ONNX models, read), "context" (contexts, equal bit for bit
  // but for the name of the partition, which the provider makes up), "hash" (any other context: its inside is the
  // provider's own).
  std::string told_by;
  std::string file_before, file_after, sha256_before, sha256_after;
  // Of "content": constants by what became of them. Renamed: the same values under another name; rehoused: from an
  // initialiser to a Constant node or back, under the same name and with the same values.
  uint64_t same = 0, renamed = 0, rehoused = 0, changed = 0, added = 0, removed = 0;
  std::vector<ComparedConstant> constants;  // most changed first, then added, then removed
  std::optional<ComparedGraph> graph;

  bool weights_changed() const { return changed + added + removed != 0; }
};

// One tensor of the reference recordings over the samples that both packages hold.
struct ComparedReferenceTensor {
  std::string name, after_name;  // a boundary tensor may have another name in the second package
  Role role = Role::kOutput;
  uint64_t samples = 0;                   // compared
  uint64_t equal = 0;                     // of them, equal to the bit
  uint64_t other_shape = 0;               // of them, of another shape: no figures
  std::optional<PairMetrics> worst;       // of the sample with the largest NMSE (names: with most that differ)
  std::string worst_before, worst_after;  // that sample's ids
};

struct ComparedReference {
  uint64_t before = 0, after = 0;  // samples
  uint64_t shared = 0;             // with the same inputs to the bit
  bool reordered = false;
  std::vector<std::string> only_before, only_after;  // ids of the other samples
  std::vector<ComparedReferenceTensor> tensors;
};

// A figure of the verification, as each package holds it.
struct ComparedFigure {
  std::string scope;    // "chain", "cpu parts"
  std::string subject;  // a task or a tensor
  std::string figure;   // "matched_iou_min", "cosine"
  std::string unit;
  std::optional<double> before, after;  // of a tensor: worst over the package's samples

  bool same() const;
};

struct ComparedCheck {
  std::string id;                            // "placement", "chain"
  std::optional<std::string> before, after;  // verdicts; absent: no such check
  std::string text_before, text_after;
};

struct ComparedVerification {
  std::string before, after;  // verdicts; empty: the package holds none
  std::vector<ComparedCheck> checks;
  std::vector<ComparedFigure> figures;  // all
  uint64_t samples_before = 0, samples_after = 0;
};

// Shown side by side, never divided: two rounds of different conditions say nothing about each other.
struct ComparedTimings {
  std::vector<ComparedFigure> single;                  // seconds of single observations: opening the parts' sessions
  Json before = Json::array(), after = Json::array();  // rounds of paritas bench, as stored
  bool same_conditions = false;                        // every round states its conditions, and they are equal
  std::string text;
};

// What changed in one respect.
struct PackageArea {
  std::string name;
  Difference difference = Difference::kSame;
  bool matters = false;
  std::string text;  // in short
};

struct PackageDiff {
  ComparedPackage before, after;
  bool changed = false;  // an area that matters did
  Finding finding;       // the most important change
  std::vector<PackageArea> areas;
  std::vector<ComparedFile> files;
  std::vector<PackageFact> facts;
  std::vector<ComparedPart> parts;  // in the order of the first package, then those that are new
  ComparedReference reference;
  ComparedVerification verification;
  ComparedTimings timings;
  std::vector<std::string> notes;
  double seconds = 0;
};

}  // namespace paritas
