#include "paritas/judge/profiles.h"

namespace paritas {

const std::vector<Profile>& profiles() {
  static const std::vector<Profile> all = {
      {"monitor",
       "flags what deserves a look, for layer-wise monitoring: the limits that conversion tools commonly print in red "
       "(cosine 0.99; 10 % of the reference's range)",
       R"([[gate]]
type = "float"
metric = "cosine"
op = ">="
value = 0.99

[[gate]]
type = "float"
metric = "max_abs"
op = "<="
value = 0.1
unit = "range"
)"},
      {"strict-fp32",
       "float32 against float32 on one kind of processor: the customary atol = rtol = 1e-5 for every element; integers "
       "equal",
       R"([[gate]]
type = "float"
metric = "outside"
op = "<="
value = 0
atol = 1e-5
rtol = 1e-5

[[gate]]
type = "integer"
optional = true
metric = "differing"
op = "<="
value = 0
)"},
      {"fp16-device",
       "our choice: 40 dB is an error of 1 % of the signal's norm, some 20 dB above what storing alone costs in "
       "float16; "
       "integers are not judged",
       R"([[gate]]
type = "float"
metric = "cosine"
op = ">="
value = 0.999

[[gate]]
type = "float"
metric = "sqnr_db"
op = ">="
value = 40
)"},
      {"w8a8-steps",
       "our choice: kernels that round differently are one step apart, two where such an error is inherited; a mean of "
       "half a step is what unrelated rounding reaches",
       R"([[gate]]
tensor = "*"
metric = "max_step"
op = "<="
value = 2

[[gate]]
tensor = "*"
metric = "mean_step"
op = "<="
value = 0.5
)"},
      {"detection-export",
       "our choice, for an exported model on the CPU: the boxes that count are the same to 1 % of their area, scores "
       "to "
       "0.001",
       R"([[gate]]
role = "scores"
metric = "cosine"
op = ">="
value = 0.999

[[gate]]
task = "*"
metric = "unmatched"
op = "<="
value = 0

[[gate]]
task = "*"
metric = "matched_iou_min"
op = ">="
value = 0.99

[[gate]]
task = "*"
metric = "max_score_difference"
op = "<="
value = 0.001
)"},
      {"detection-device",
       "our choice, for a detector on an accelerator in float16: the boxes that count are found, with 5 % of their "
       "area "
       "and 0.05 of their score, and the best class stays",
       R"([[gate]]
role = "feature"
optional = true
metric = "cosine"
op = ">="
value = 0.99

[[gate]]
role = "scores"
metric = "cosine"
op = ">="
value = 0.99

[[gate]]
task = "*"
metric = "unmatched"
op = "<="
value = 0

[[gate]]
task = "*"
metric = "matched_iou_min"
op = ">="
value = 0.95

[[gate]]
task = "*"
metric = "max_score_difference"
op = "<="
value = 0.05

[[gate]]
task = "*"
metric = "same_top_class"
op = ">="
value = 1
)"},
  };
  return all;
}

const Profile* find_profile(const std::string& name) {
  for (const Profile& profile : profiles())
    if (profile.name == name) return &profile;
  return nullptr;
}

}  // namespace paritas
