#include "paritas/judge/catalogue_package_diff.h"

#include <fmt/format.h>

#include "paritas/judge/catalogue_text.h"

namespace paritas::catalogue {
namespace {

constexpr const char* kVerifyNext = "judge the second package by its own gates: paritas verify DIR2";
constexpr const char* kNoRun = "what that does to results: nothing was run for this comparison";

struct Words {
  const char* id;
  const char* lead;
  const char* shows;
  const char* does_not_show;
  const char* next;
};

Words words_of(PackageChange change) {
  switch (change) {
    case PackageChange::kContract:
      return {"package-contract", "What an application gives or gets changed",
              "the manifests declare other inputs, outputs or meanings",
              "whether an application has to be changed for it, or that the parts keep what is declared",
              "read the contract of the second package before it replaces the first"};
    case PackageChange::kVerdict:
      return {"package-verdict", "The verification came to something else",
              "what each package's own verification concluded, by its own gates, when it was made",
              "which change is the reason, or what either comes to on this machine",
              "verify both here: paritas verify DIR1, paritas verify DIR2"};
    case PackageChange::kWeights:
      return {"package-weights", "Weights changed", "constants of the shipped ONNX parts hold other values", kNoRun,
              kVerifyNext};
    case PackageChange::kGraph:
      return {"package-graph", "The graph of an ONNX part changed",
              "operators, attributes or what reads what differ, names and order of nodes left aside",
              "that the results differ: another graph may compute the same", kVerifyNext};
    case PackageChange::kContext:
      return {"package-context", "A compiled part changed", "the shipped context has other bytes",
              "what changed inside: a context can only be told by its hash, and other bytes need not compute otherwise",
              kVerifyNext};
    case PackageChange::kCut:
      return {"package-cut", "The cut changed", "the parts hand over other tensors", kNoRun, kVerifyNext};
    case PackageChange::kParts:
      return {"package-parts", "Parts are built or run otherwise",
              "targets, options, ports or placement differ as the manifests state them", kNoRun, kVerifyNext};
    case PackageChange::kEnvironment:
      return {"package-environment", "The packages were made with another environment",
              "libraries or device facts differ as the manifests state them",
              "what runs where the package is used, or that results differ", kVerifyNext};
    case PackageChange::kGates:
      return {"package-gates", "The packages are judged otherwise",
              "gates or tasks differ, so the verdicts mean different things",
              "which of the two demands is the right one", "judge both by one set: paritas verify DIR1 --gates FILE"};
    case PackageChange::kSamples:
      return {"package-samples", "The packages hold other reference samples",
              "the inputs on which each package was verified are not the same, to the bit",
              "how either package does on the other's samples: figures over different samples do not compare",
              "verify both on the same samples: split again with one set of inputs"};
    case PackageChange::kReference:
      return {"package-reference", "The reference computes something else",
              "on the same inputs the recorded reference runs gave other values",
              "which of the two is right, or why: model, runtime or machine",
              "compare both source models on one machine"};
    case PackageChange::kResults:
      return {"package-results", "Figures of the verification changed",
              "what each package's verification measured when it was made",
              "which change is the reason, or how much of it is noise of the device", kVerifyNext};
    case PackageChange::kFiles:
      return {"package-files", "Further files changed",
              "files of which the manifest does not say what they are for differ", "whether anything reads them",
              "look into the files"};
  }
  return {};
}

}  // namespace

Finding package_changed(PackageChange change, const PackageChangeFacts& facts) {
  const Words words = words_of(change);
  Finding f;
  f.id = words.id;
  f.text = fmt::format("{}: {}.", words.lead, facts.what);
  if (!facts.also.empty()) f.text += fmt::format(" Also changed: {}.", list(facts.also, facts.also.size()));
  f.shows = words.shows;
  f.does_not_show = words.does_not_show;
  f.next = words.next;
  f.evidence = {{"what", facts.what}, {"also", facts.also}};
  return f;
}

Finding packages_alike(const std::vector<std::string>& differing) {
  Finding f;
  f.id = "packages-alike";
  f.text = "Nothing changed that can change what is computed, where, or what an application must do.";
  if (!differing.empty()) f.text += fmt::format(" Different all the same: {}.", list(differing, differing.size()));
  f.shows =
      "parts, contract, gates, samples, reference and figures of both packages are the same in all that is compared";
  f.does_not_show = "that either package holds on this machine: nothing was run";
  f.next = kVerifyNext;
  f.evidence = {{"differing", differing}};
  return f;
}

}  // namespace paritas::catalogue
