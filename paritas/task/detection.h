// Does a detector on the device still find what the reference finds? docs/task-checks.md has every formula.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paritas/recording/sample_stream.h"
#include "paritas/task/matching.h"
#include "paritas/task/outcome.h"

namespace paritas {

enum class BoxUnits { kPixels, kNormalised };
std::string_view name(BoxUnits units);

enum class ScoreValues {
  kConfidence,     // in [0, 1]; padding may be exactly -1
  kSigmoidLogits,  // one sigmoid each
  kSoftmaxLogits,  // softmax over the classes of a row
};
std::string_view name(ScoreValues values);

// Where the coordinates of a box, or the scores of its classes, lie.
enum class RowLayout {
  kRows,     // in the last dimension: boxes [B,N,4], scores [B,N,C]
  kColumns,  // before the boxes: boxes [B,4,N], scores [B,C,N]
};
std::string_view name(RowLayout layout);

struct DetectionSpec {
  std::string name;           // of the task, as gates call it
  std::string boxes, scores;  // tensors: [N,4] or [B,N,4]; [N], [B,N], or a score per class [N,C], [B,N,C]
  std::string labels;         // [N] or [B,N]; empty: none, or the scores are per class
  // [B], whole numbers: of each image only that many rows are detections, the others are padding, whatever they hold.
  // Empty: all are.
  std::string num_detections;
  BoxFormat format = BoxFormat::kXyxy;
  RowLayout box_layout = RowLayout::kRows;
  RowLayout score_layout = RowLayout::kRows;  // of scores per class
  BoxUnits units = BoxUnits::kPixels;
  ScoreValues score_values = ScoreValues::kConfidence;
  std::optional<double> image_width, image_height;  // in the unit of the boxes; normalised boxes: 1 x 1
  double threshold = 0.25;                          // rows with a score above it are boxes
  double min_iou = 0.5;                             // boxes that overlap less are not the same object
  double near = 0.05;                               // scores this close to the threshold may fall on either side of it
  double top_tie = 0.01;              // classes whose best scores are this close to the highest share the first place
  std::optional<int64_t> background;  // class of per-class scores that means "nothing"
  bool no_background = false;         // declared: per-class scores that sum to 1 have no such class
  std::vector<std::string> class_names;                                 // by label; may be empty
  std::optional<Quantisation> boxes_quantisation, scores_quantisation;  // of integers whose recording has none
};

// Keys: type ("detection"), name, boxes, scores, labels, num_detections, format, box_layout, score_layout, units,
// score_values, image_width, image_height, threshold, min_iou, near, top_tie, background (a class, or "none"),
// class_names, boxes_quantisation, scores_quantisation.
Result<DetectionSpec> detection_from_json(const Json& object, const std::string& subject);

// Rows of one side of one image that are no box, or hold what they must not.
struct BadRows {
  uint64_t nonfinite_scores = 0;      // NaN or infinite
  uint64_t scores_out_of_range = 0;   // confidences beyond [0, 1]
  uint64_t nonfinite_boxes = 0;       // whatever the score
  uint64_t nonfinite_boxes_over = 0;  // those whose score is over the threshold
  uint64_t no_area = 0;               // finite, but without area, over the threshold
  uint64_t bad_labels = 0;            // not a whole number, or without a name, over the threshold
  uint64_t class_ties = 0;            // over the threshold, per-class scores: two classes share the best score
};

struct UnmatchedBox {
  uint32_t index = 0;       // into DetectionImage::reference or ::device
  double best_iou = 0;      // with any box of its class on the other side
  bool crossing = false;    // see ThresholdCrossing
  bool relabelled = false;  // part of a label change
};

// A box over the threshold whose partner (same class, IoU >= min_iou, score within `near`) is under it on the other
// side.
struct ThresholdCrossing {
  bool reference_over = false;
  DetectedBox reference, device;
  double iou = 0;
};

struct NearBox {
  bool of_reference = false;
  DetectedBox box;  // its score is within `near` of the threshold
};

struct SweepPoint {
  double threshold = 0;
  uint64_t reference = 0, device = 0;  // boxes over it
  uint64_t matched = 0, unmatched_reference = 0, unmatched_device = 0;
  std::optional<double> iou_min;  // of the matched
};

// One image of a batch.
struct DetectionImage {
  std::string sample;
  uint64_t image = 0;
  std::vector<DetectedBox> reference, device;  // over the threshold, best score first
  std::vector<BoxPair> matched;                // indices into these two
  std::vector<UnmatchedBox> unmatched_reference, unmatched_device;
  std::vector<BoxPair> label_changes;  // unmatched boxes of different class with IoU >= 0.5, one to one
  std::vector<ThresholdCrossing> crossings;
  std::vector<NearBox> near;
  std::vector<SweepPoint> sweep;
  std::vector<int64_t> reference_top, device_top;      // classes that have the best score; empty without boxes
  std::vector<int64_t> reference_first, device_first;  // those within top_tie of it
  BadRows reference_bad, device_bad;
  bool has_classes = false;  // labels, or scores of more than one class beside the background
  bool incomplete = false;   // so many boxes overlap that crossings, label changes or part of the sweep were left out
};

struct DetectionSample {
  std::vector<DetectionImage> images;
  std::vector<TaskIssue> issues;  // the device lacks an output, or its shape does not fit
};

struct DetectionResult {
  DetectionSpec spec;
  std::vector<DetectionImage> images;
  uint64_t samples = 0;
  uint64_t reference_boxes = 0, device_boxes = 0, matched = 0, label_changes = 0, crossings = 0;
  uint64_t unmatched_reference = 0, unmatched_device = 0;  // crossings and label changes included
  std::vector<SweepPoint> sweep;                           // summed over the images
  TaskOutcome outcome;
};

// Every image of one sample. Errors: the declaration does not fit the reference. What is wrong with the device is no
// error, but part of the result.
Result<DetectionSample> detect_sample(const DetectionSpec& spec, const Sample& reference, const RunInfo& reference_info,
                                      const Sample& device, const RunInfo& device_info);

// Totals over samples in their order, however they were gathered: the same images give the same bits.
DetectionResult conclude_detection(const DetectionSpec& spec, std::vector<DetectionSample> samples);

Result<DetectionResult> check_detection(const DetectionSpec& spec, SampleStream& reference, SampleStream& device);

Json to_json(const DetectionResult& result);

}  // namespace paritas
