#include "paritas/onnx/auto_cuts.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

namespace paritas::onnx_model {
namespace {

// What a border between modules is worth, in doublings of the bytes: 4 where top-level modules meet ("/enc", "/dec"),
// then 2, 1 and so on. Our choice: it moves a cut to a border nearby, and never beyond a bottleneck.
constexpr double kTopBorder = 4;
// A half of fewer than this share of the nodes tells nothing that the whole does not.
constexpr double kSmallestHalf = 0.02;
constexpr size_t kMostTensors = 16;  // a place that needs more is no cut that anybody would use

std::vector<std::string> module_path(const std::string& node) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : node + "/") {
    if (c != '/') {
      part += c;
    } else if (!part.empty()) {
      parts.push_back(std::move(part));
      part.clear();
    }
  }
  if (!parts.empty()) parts.pop_back();  // the node itself
  return parts;
}

double border_bonus(const std::string& before, const std::string& behind) {
  const auto a = module_path(before), b = module_path(behind);
  if (a.empty() && b.empty()) return 0;  // names without modules
  size_t common = 0;
  while (common < a.size() && common < b.size() && a[common] == b[common]) ++common;
  if (common == a.size() && common == b.size()) return 0;
  return kTopBorder / std::pow(2.0, static_cast<double>(common));
}

struct Place {
  size_t nodes = 0;  // in front of it
  double cost = 0;
  std::vector<std::string> tensors;
};

// Walks the nodes in graph order and keeps the tensors that those behind still need.
class Sweep {
 public:
  Sweep(const GraphIndex& index, const ValueDependence& dependence, const TensorBytes& bytes)
      : index_(index), bytes_(bytes) {
    for (size_t i = 0; i < index.nodes().size(); ++i) {
      const auto& node = index.nodes()[i];
      if (std::any_of(node.outputs.begin(), node.outputs.end(), [&](const auto& o) { return dependence.depends(o); }))
        order_.push_back(static_cast<int>(i));
    }
    for (const int node : order_)
      each_input(node, [&](const std::string& input) {
        if (dependence.depends(input) || index.is_input(input)) last_reader_[input] = node;
      });
  }

  std::vector<Place> run() {
    std::vector<Place> places;
    for (size_t i = 0; i + 1 < order_.size(); ++i) {
      const int node = order_[i];
      each_input(node, [&](const std::string& input) {
        const auto last = last_reader_.find(input);
        if (last == last_reader_.end()) return;
        if (last->second == node)
          live_.erase(input);
        else
          live_.insert(input);  // a graph input that both halves need comes in here
      });
      for (const auto& output : index_.nodes()[static_cast<size_t>(node)].outputs)
        if (last_reader_.count(output) != 0 || index_.is_output(output)) live_.insert(output);
      const auto smallest = static_cast<size_t>(kSmallestHalf * static_cast<double>(order_.size()));
      if (i + 1 < smallest || order_.size() - i - 1 < smallest) continue;
      if (live_.empty() || live_.size() > kMostTensors) continue;
      if (auto place = place_at(i)) places.push_back(std::move(*place));
    }
    return places;
  }

  size_t nodes() const { return order_.size(); }

 private:
  template <class Visit>
  void each_input(int node, Visit visit) const {
    const auto& n = index_.nodes()[static_cast<size_t>(node)];
    for (const auto* names : {&n.inputs, &n.captures})
      for (const auto& name : *names) visit(name);
  }

  std::optional<Place> place_at(size_t i) const {
    Place place;
    uint64_t total = 0;
    for (const auto& tensor : live_) {
      const auto size = bytes_(tensor);
      if (!size) return std::nullopt;
      total += *size;
      place.tensors.push_back(tensor);
    }
    place.nodes = i + 1;
    place.cost = static_cast<double>(live_.size()) + std::log2(static_cast<double>(total) + 1) -
                 border_bonus(name_of(i), name_of(i + 1));
    return place;
  }
  const std::string& name_of(size_t i) const { return index_.nodes()[static_cast<size_t>(order_[i])].name; }

  const GraphIndex& index_;
  const TensorBytes& bytes_;
  std::vector<int> order_;  // nodes that depend on input values
  std::unordered_map<std::string, int> last_reader_;
  std::set<std::string> live_;
};

}  // namespace

std::vector<Cut> propose_cuts(const Model& model, const GraphIndex& index, const ValueDependence& dependence, int count,
                              const TensorBytes& bytes) {
  Sweep sweep(index, dependence, bytes);
  const std::vector<Place> places = sweep.run();
  std::vector<Cut> cuts;
  std::set<std::vector<std::string>> taken;
  for (int k = 0; k < count; ++k) {
    const auto stretch = [&](int n) { return sweep.nodes() * static_cast<size_t>(n) / static_cast<size_t>(count); };
    std::vector<const Place*> candidates;
    for (const Place& place : places)
      if (place.nodes > stretch(k) && place.nodes <= stretch(k + 1)) candidates.push_back(&place);
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Place* a, const Place* b) { return a->cost < b->cost; });
    for (const Place* place : candidates) {
      auto cut = check_cut(model, index, dependence, fmt::format("auto-{}", cuts.size() + 1), place->tensors, "auto");
      // A tensor that only leads to an output of the front half belongs to no hand-over.
      if (!cut || !taken.insert(cut->tensors).second) continue;
      cuts.push_back(std::move(*cut));
      break;
    }
  }
  return cuts;
}

}  // namespace paritas::onnx_model
