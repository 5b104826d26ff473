// The reference recordings of two packages: which samples are the same, and what the reference made of them.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/compare/compare.h"
#include "paritas/delivery/compare_packages_steps.h"
#include "paritas/recording/recording.h"

namespace paritas::package_diff {
namespace {

struct Side {
  const Manifest* manifest = nullptr;
  std::unique_ptr<SampleStream> stream;
  std::vector<std::string> ids, hashes;  // of each sample: its inputs

  static Result<Side> of(const Package& package) {
    Side side;
    side.manifest = &package.manifest;
    PARITAS_ASSIGN(side.stream, open_samples(package.path_of(package.manifest.reference.folder), {}));
    for (uint64_t i = 0; i < side.stream->sample_count(); ++i) {
      PARITAS_ASSIGN(const Sample sample, side.stream->sample(i));
      side.ids.push_back(sample.id);
      PARITAS_ASSIGN(std::string hash, side.hash_inputs(sample));
      side.hashes.push_back(std::move(hash));
    }
    return side;
  }

  // Names count, their order does not.
  Result<std::string> hash_inputs(const Sample& sample) const {
    std::map<std::string, std::string> inputs;
    for (const auto& [name, tensor] : sample.tensors) {
      const auto is_port = [&](const ContractPort& port) { return port.name == name; };
      if (std::none_of(manifest->inputs.begin(), manifest->inputs.end(), is_port)) continue;
      PARITAS_ASSIGN(inputs[name], content_hash(tensor));
    }
    std::string text;
    for (const auto& [name, hash] : inputs) text += name + " " + hash + "\n";
    return sha256_hex(std::as_bytes(std::span(text)));
  }
};

struct Pair {
  uint64_t before = 0, after = 0;
};

// Samples with equal inputs, each used once.
std::vector<Pair> pair_samples(const Side& before, const Side& after, ComparedReference& reference) {
  std::vector<Pair> pairs;
  std::vector<bool> taken(after.ids.size(), false);
  for (size_t i = 0; i < before.ids.size(); ++i) {
    size_t j = 0;
    while (j < after.ids.size() && (taken[j] || after.hashes[j] != before.hashes[i])) ++j;
    if (j == after.ids.size()) {
      reference.only_before.push_back(before.ids[i]);
      continue;
    }
    taken[j] = true;
    if (!pairs.empty() && j < pairs.back().after) reference.reordered = true;
    pairs.push_back({i, j});
  }
  for (size_t j = 0; j < after.ids.size(); ++j)
    if (!taken[j]) reference.only_after.push_back(after.ids[j]);
  return pairs;
}

const BoundaryTensor* boundary_of_source(const Manifest& manifest, const std::string& source) {
  for (const PackageCut& cut : manifest.cuts)
    for (const BoundaryTensor& tensor : cut.tensors)
      if (tensor.source == source) return &tensor;
  return nullptr;
}

struct Planned {
  ComparedReferenceTensor result;
  bool names = false;  // class ids
};

// Outputs by name; boundary tensors by what they are in the model.
std::vector<Planned> plan(const Manifest& before, const Manifest& after) {
  std::vector<Planned> planned;
  for (const ContractPort& a : before.outputs)
    for (const ContractPort& b : after.outputs)
      if (a.name == b.name)
        planned.push_back({{a.name, b.name, Role::kOutput, 0, 0, 0, {}, {}, {}},
                           (a.role == "labels" || b.role == "labels") && is_integer(a.dtype) && is_integer(b.dtype)});
  for (const PackageCut& cut : before.cuts)
    for (const BoundaryTensor& tensor : cut.tensors)
      if (const BoundaryTensor* other = boundary_of_source(after, tensor.source))
        planned.push_back({{tensor.name, other->name, Role::kIntermediate, 0, 0, 0, {}, {}, {}}, false});
  return planned;
}

const Tensor* find(const Sample& sample, const std::string& name) {
  for (const auto& [key, tensor] : sample.tensors)
    if (key == name) return &tensor;
  return nullptr;
}

// NaN is worst of all.
double badness(const PairMetrics& metrics) {
  if (metrics.names) return static_cast<double>(metrics.differing);
  return std::isnan(metrics.nmse) ? std::numeric_limits<double>::infinity() : metrics.nmse;
}

Status add_pair(const Sample& before, const Sample& after, int threads, Planned& planned) {
  ComparedReferenceTensor& result = planned.result;
  const Tensor* x = find(before, result.name);
  const Tensor* y = find(after, result.after_name);
  if (x == nullptr || y == nullptr) return {};  // not recorded: `samples` stays behind
  ++result.samples;
  PARITAS_ASSIGN(const bool equal, equal_bytes(*x, *y));
  if (equal) ++result.equal;
  if (x->shape != y->shape) {
    ++result.other_shape;
    return {};
  }
  MetricOptions options;
  options.threads = threads;
  options.names = planned.names;
  PARITAS_ASSIGN(PairMetrics metrics, compare_tensors(*x, *y, options));
  if (result.worst && badness(metrics) <= badness(*result.worst)) return {};
  result.worst = std::move(metrics);
  result.worst_before = before.id;
  result.worst_after = after.id;
  return {};
}

}  // namespace

Result<ComparedReference> compare_references(const Package& before, const Package& after, int threads) {
  PARITAS_ASSIGN(const Side a, Side::of(before));
  PARITAS_ASSIGN(const Side b, Side::of(after));
  ComparedReference reference;
  reference.before = a.ids.size();
  reference.after = b.ids.size();
  const std::vector<Pair> pairs = pair_samples(a, b, reference);
  reference.shared = pairs.size();
  std::vector<Planned> planned = plan(before.manifest, after.manifest);
  for (const Pair& pair : pairs) {
    PARITAS_ASSIGN(const Sample x, a.stream->sample(pair.before));
    PARITAS_ASSIGN(const Sample y, b.stream->sample(pair.after));
    for (Planned& each : planned) PARITAS_TRY(add_pair(x, y, threads, each));
  }
  for (Planned& each : planned)
    if (each.result.samples != 0) reference.tensors.push_back(std::move(each.result));
  return reference;
}

}  // namespace paritas::package_diff
