// Figures of many samples, added one sample after the other: what is kept of each is a few scalars per tensor.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paritas/locate/samples_types.h"

namespace paritas {

// Bytes that the scalars for medians may take. Where those of every sample do not fit, medians are taken over a part of
// the samples that depends on their numbers alone (at least kLeastForMedian of them).
inline constexpr uint64_t kMedianBytes = uint64_t{64} << 20;
inline constexpr uint64_t kLeastForMedian = 64;

class SamplesReducer {
 public:
  explicit SamplesReducer(uint64_t samples, uint64_t median_bytes = kMedianBytes)
      : asked_(samples), median_bytes_(median_bytes) {}
  // In sample order, each number once.
  void add(uint64_t number, const SampleRecord& record);
  void add_failure(uint64_t number, const std::string& id, const Error& error);
  // Everything but what the request says (model, targets, gates) and what is of the run.
  SamplesResult finish();

 private:
  struct Figure {  // values in the order of adding; `worst` over all, `values` over those that count for the median
    bool smaller_is_worse = false;
    uint64_t samples = 0;
    double worst = 0;
    std::string worst_sample;
    std::vector<double> values;
  };
  struct Figures {
    Figure nmse, cosine{true, 0, 0, {}, {}}, max_abs;
    uint64_t nonfinite_samples = 0;
    std::string nonfinite_sample;
  };
  struct Node {
    NodeOverSamples row;
    Figures accumulated, forced, local;
    Figure x_baseline, sensitivity;
  };
  struct Output {
    OutputOverSamples row;
    Figures figures;
    double worst_nmse = 0;
  };
  struct Cell {
    CellOverSamples row;
    std::vector<Output> outputs;
    catalogue::CellOutcome worst = catalogue::CellOutcome::kHolds;
    double worst_nmse = 0;
  };
  struct Cut {
    CutOverSamples row;
    std::vector<Cell> cells;
  };
  struct Group {  // findings that are the same but for their numbers
    Finding told;
    std::string told_from;
    Verdict verdict = Verdict::kPass;
    double nmse = 0;
    std::vector<bool> holds;  // by place in samples_
  };

  void choose_for_medians(size_t nodes);
  void take(Figure& figure, double value, const std::string& sample) const;
  void take(Figures& figures, const std::optional<RecordedFigures>& recorded, const std::string& sample) const;
  double add_output(std::vector<Output>& outputs, const RecordedOutput& output, const std::string& sample) const;
  void add_outputs(const SampleRecord& record, SampleOutcome& outcome);
  void add_cuts(const SampleRecord& record);
  void add_cell(Cell& cell, const RecordedCell& recorded, const std::string& sample) const;
  void add_nodes(const SampleRecord& record);
  void add_decisions(const SampleRecord& record, SampleOutcome& outcome);
  void add_findings(const SampleRecord& record, const SampleOutcome& outcome);
  void conclude_samples();
  void conclude_nodes();
  void conclude_cuts();
  void conclude_findings();

  uint64_t asked_;
  uint64_t median_bytes_;
  uint64_t median_limit_ = 0;  // of numbers' hashes; samples up to it count for medians
  bool counts_for_median_ = true;
  std::vector<Node> nodes_;
  std::map<std::string, size_t> node_at_;
  std::vector<Output> outputs_;
  std::vector<Cut> cuts_;
  std::vector<std::pair<std::string, Group>> groups_;  // by id and first node
  uint64_t groups_left_out_ = 0;
  std::vector<std::pair<std::string, uint64_t>> notes_;  // with the samples that have it
  uint64_t notes_left_out_ = 0;
  bool other_pins_ = false;
  SamplesResult result_;
};

}  // namespace paritas
