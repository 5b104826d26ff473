// check_cut, extract_halves: does a set of tensors separate the graph, and what lies on each side of it?
#include "paritas/onnx/cut.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/onnx/edit_common.h"

namespace paritas::onnx_model {
namespace {

using NameSet = std::unordered_set<std::string>;

constexpr size_t kMissingListed = 8;  // tensors that an error asks for by name
constexpr size_t kPathAround = 1;     // tensors of a path that an error shows on each side of the crossing

class Splitter {
 public:
  Splitter(const Model& model, const GraphIndex& index, const ValueDependence& dependence,
           const std::vector<std::string>& tensors, const std::string& subject, bool carry_inputs)
      : model_(model),
        index_(index),
        dependence_(dependence),
        subject_(subject),
        tensors_(tensors),
        carry_inputs_(carry_inputs),
        cut_(tensors.begin(), tensors.end()) {}

  Result<Cut> run(const std::string& name) {
    result_.name = name;
    PARITAS_TRY(check_tensors());
    walk_front();
    if (result_.front_nodes == 0)
      return usage_error(subject_, "the cut holds nothing but graph inputs: the front half is empty",
                         "cut behind the first nodes");
    sort_outputs();
    walk_rear();
    if (!crossing_.empty()) return goes_round();
    if (result_.rear_nodes == 0)
      return usage_error(subject_, "the cut lies behind the outputs: nothing is left for the rear half",
                         "cut in front of the last nodes");
    if (read_.empty())
      return usage_error(subject_, "no output depends on a tensor of the cut", "cut on the way to the outputs");
    list_tensors();
    find_constants();
    return std::move(result_);
  }

 private:
  Status check_tensors() const {
    for (const auto& tensor : tensors_) {
      if (!is_known(index_, tensor)) {
        Error error = unknown_tensor(model_, tensor).value();
        return usage_error(subject_, fmt::format("{} {}", model_.subject(), error.cause), error.remedy);
      }
      if (index_.is_initializer(tensor) || (!index_.is_input(tensor) && !dependence_.depends(tensor)))
        return usage_error(subject_, fmt::format("\"{}\" is a constant: it does not depend on input values", tensor),
                           "leave it out: constants go to each half that needs them");
    }
    return {};
  }

  template <class Visit>
  void each_input(int node, Visit visit) const {
    const auto& n = index_.nodes()[static_cast<size_t>(node)];
    for (const auto* names : {&n.inputs, &n.captures})
      for (const auto& name : *names) visit(name);
  }
  bool in_cut(const std::string& tensor) const { return cut_.count(tensor) != 0; }

  // Everything that the cut's tensors are made from, through other tensors of the cut, too.
  void walk_front() {
    std::vector<std::string> open(cut_.begin(), cut_.end());
    NameSet seen;
    while (!open.empty()) {
      const std::string tensor = std::move(open.back());
      open.pop_back();
      if (!seen.insert(tensor).second) continue;
      if (index_.is_input(tensor)) {
        // An input that is in the cut itself is no front input for that alone.
        if (!in_cut(tensor)) front_inputs_.insert(tensor);
        continue;
      }
      const int producer = index_.producer(tensor);
      if (producer < 0) continue;
      if (!dependence_.depends(tensor)) {
        front_constants_.insert(tensor);
        continue;
      }
      if (!front_.insert(producer).second) continue;
      each_input(producer, [&](const std::string& input) {
        if (index_.is_input(input)) front_inputs_.insert(input);
        open.push_back(input);
      });
    }
    result_.front_nodes = static_cast<int>(front_.size());
  }

  void sort_outputs() {
    for (const auto& output : index_.outputs()) {
      const int producer = index_.producer(output);
      const bool made_in_front = producer >= 0 && dependence_.depends(output) && front_.count(producer) != 0;
      (made_in_front || in_cut(output) || index_.is_input(output) ? result_.front_outputs : result_.rear_outputs)
          .push_back(output);
    }
  }

  void walk_rear() {
    std::vector<std::string> open;
    for (const auto& output : result_.rear_outputs) {
      via_.emplace(output, std::string());
      open.push_back(output);
    }
    NameSet seen;
    while (!open.empty()) {
      const std::string tensor = std::move(open.back());
      open.pop_back();
      if (!seen.insert(tensor).second) continue;
      if (in_cut(tensor)) {
        read_.insert(tensor);
        continue;
      }
      const int producer = index_.producer(tensor);
      if (index_.is_input(tensor)) {
        if (front_inputs_.count(tensor) == 0) {
          rear_inputs_.insert(tensor);
        } else if (carry_inputs_) {
          cut_.insert(tensor);
          read_.insert(tensor);
        } else {
          crossing_.push_back(tensor);
        }
        continue;
      }
      if (producer < 0) continue;
      if (!dependence_.depends(tensor)) {
        rear_constants_.insert(tensor);
        continue;
      }
      if (front_.count(producer) != 0) {
        crossing_.push_back(tensor);
        continue;
      }
      if (!rear_.insert(producer).second) continue;
      each_input(producer, [&](const std::string& input) {
        via_.emplace(input, tensor);
        open.push_back(input);
      });
    }
    result_.rear_nodes = static_cast<int>(rear_.size());
  }

  // From a graph input to `tensor` past the cut; empty when every way leads through it.
  std::vector<std::string> path_to(const std::string& tensor) const {
    std::unordered_map<std::string, std::string> next;  // tensor -> the one that is made from it, towards the end
    next.emplace(tensor, std::string());
    std::vector<std::string> open{tensor};
    for (size_t i = 0; i < open.size(); ++i) {
      const std::string current = open[i];
      if (index_.is_input(current)) {
        std::vector<std::string> path;
        for (std::string at = current; !at.empty(); at = next.at(at)) path.push_back(at);
        return path;
      }
      const int producer = index_.producer(current);
      if (producer < 0 || !dependence_.depends(current)) continue;
      each_input(producer, [&](const std::string& input) {
        if (!in_cut(input) && next.emplace(input, current).second) open.push_back(input);
      });
    }
    return {};
  }

  // The ends of a path and what lies around `centre`, where it leaves the front half.
  static std::string shown(const std::vector<std::string>& path, size_t centre) {
    std::string text;
    bool gap = false;
    for (size_t i = 0; i < path.size(); ++i) {
      if (i != 0 && i + 1 != path.size() && (i + kPathAround < centre || i > centre + kPathAround)) {
        gap = true;
        continue;
      }
      text += fmt::format("{}\"{}\"", i == 0 ? "" : gap ? " -> ... -> " : " -> ", path[i]);
      gap = false;
    }
    return text;
  }

  Unexpected goes_round() {
    sort_in_graph_order(crossing_);
    const std::string& tensor = crossing_.front();
    std::vector<std::string> path = path_to(tensor);
    const bool round = !path.empty();
    if (!round) path = {tensor};
    const size_t centre = path.size() - 1;
    for (std::string at = via_.at(tensor); !at.empty(); at = via_.at(at)) path.push_back(at);
    std::string missing;
    for (size_t i = 0; i < crossing_.size() && i < kMissingListed; ++i)
      missing += fmt::format("{}\"{}\"", i ? ", " : "", crossing_[i]);
    if (crossing_.size() > kMissingListed) missing += fmt::format(" and {} more", crossing_.size() - kMissingListed);
    return usage_error(
        subject_,
        round ? fmt::format("the cut does not separate {}: a path goes round it, {}", model_.subject(),
                            shown(path, centre))
              : fmt::format("the cut is not one-way: \"{}\" lies in front of one tensor of the cut and behind another, "
                            "and the rear half reads it too, {}",
                            tensor, shown(path, centre)),
        fmt::format("add {} to the cut, or cut elsewhere", missing));
  }

  void sort_in_graph_order(std::vector<std::string>& names) const {
    std::unordered_map<std::string, std::pair<int, size_t>> place;
    for (const auto& name : names) {
      const int producer = index_.producer(name);
      const auto& list = producer < 0 ? index_.inputs() : index_.nodes()[static_cast<size_t>(producer)].outputs;
      const auto at = static_cast<size_t>(std::find(list.begin(), list.end(), name) - list.begin());
      place.emplace(name, std::pair(producer, at));
    }
    std::sort(names.begin(), names.end(),
              [&](const std::string& a, const std::string& b) { return place.at(a) < place.at(b); });
  }

  void list_tensors() {
    result_.tensors.assign(cut_.begin(), cut_.end());
    sort_in_graph_order(result_.tensors);
    for (const auto& tensor : result_.tensors)
      if (read_.count(tensor) == 0) result_.unread.push_back(tensor);
    for (const auto& input : index_.inputs()) {
      if (front_inputs_.count(input) != 0) result_.front_inputs.push_back(input);
      if (rear_inputs_.count(input) != 0) result_.rear_inputs.push_back(input);
    }
  }

  // Does what is computed from constants need a tensor that its half does not hold (the shape of one, say)?
  bool needs_other_half(const std::string& constant, bool front) const {
    std::vector<std::string> open{constant};
    NameSet seen;
    while (!open.empty()) {
      const std::string tensor = std::move(open.back());
      open.pop_back();
      if (!seen.insert(tensor).second) continue;
      if (index_.is_input(tensor)) {
        if (front ? front_inputs_.count(tensor) == 0 : rear_inputs_.count(tensor) == 0 && read_.count(tensor) == 0)
          return true;
        continue;
      }
      const int producer = index_.producer(tensor);
      if (producer < 0) continue;
      if (dependence_.depends(tensor)) {
        if (!front && read_.count(tensor) != 0) continue;
        if ((front ? front_ : rear_).count(producer) == 0) return true;
        continue;
      }
      each_input(producer, [&](const std::string& input) { open.push_back(input); });
    }
    return false;
  }

  void find_constants() {
    NameSet wanted;
    for (const auto& tensor : front_constants_)
      if (needs_other_half(tensor, true)) wanted.insert(tensor);
    for (const auto& tensor : rear_constants_)
      if (needs_other_half(tensor, false)) wanted.insert(tensor);
    result_.constants.assign(wanted.begin(), wanted.end());
    sort_in_graph_order(result_.constants);
  }

  const Model& model_;
  const GraphIndex& index_;
  const ValueDependence& dependence_;
  const std::string& subject_;
  const std::vector<std::string>& tensors_;
  const bool carry_inputs_;
  NameSet cut_;
  Cut result_;
  std::unordered_set<int> front_, rear_;  // nodes that depend on input values
  NameSet front_inputs_, rear_inputs_, front_constants_, rear_constants_;
  NameSet read_;                                      // cut tensors that the rear half reads
  std::vector<std::string> crossing_;                 // tensors of the front that the rear reads beside the cut
  std::unordered_map<std::string, std::string> via_;  // tensor of the rear -> the one that is made from it
};

}  // namespace

Result<Cut> check_cut(const Model& model, const GraphIndex& index, const ValueDependence& dependence,
                      const std::string& name, const std::vector<std::string>& tensors, const std::string& subject,
                      bool carry_inputs) {
  return Splitter(model, index, dependence, tensors, subject, carry_inputs).run(name);
}

Result<Halves> extract_halves(const Model& model, const Cut& cut, const std::map<std::string, TensorType>& types,
                              const std::map<std::string, Tensor>& constants) {
  Model whole = model.clone();
  if (!constants.empty()) {
    PARITAS_ASSIGN(whole, replace_by_constants(model, constants));
  }
  PARITAS_ASSIGN(const GraphIndex index, GraphIndex::build(whole));
  std::vector<std::string> handed;
  for (const auto& tensor : cut.tensors)
    if (!index.is_input(tensor)) handed.push_back(tensor);
  for (const auto& output : cut.front_outputs)
    if (!index.is_input(output) && std::find(handed.begin(), handed.end(), output) == handed.end())
      handed.push_back(output);
  PARITAS_ASSIGN(Model front, extract(whole, cut.front_inputs, handed, types));
  std::vector<std::string> behind = cut.tensors;
  behind.insert(behind.end(), cut.rear_inputs.begin(), cut.rear_inputs.end());
  PARITAS_ASSIGN(Model rear, extract(whole, behind, cut.rear_outputs, types));
  return Halves{std::move(front), std::move(rear)};
}

}  // namespace paritas::onnx_model
