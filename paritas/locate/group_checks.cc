#include "paritas/locate/group_checks.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "paritas/locate/evidence.h"

namespace paritas {
namespace {

constexpr const char* kForm = "write 'TENSOR: axis=1' or 'TENSOR: axes=1,2 names=head,token'";

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  for (size_t end = text.find(separator); end != std::string::npos; end = text.find(separator, start)) {
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  parts.push_back(text.substr(start));
  return parts;
}

Status parse_axes(const std::string& list, GroupRequest& request) {
  for (const std::string& part : split(list, ',')) {
    int64_t axis = 0;
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), axis);
    if (code != std::errc() || end != part.data() + part.size())
      return usage_error(request.text, fmt::format("\"{}\" is no axis", part), kForm);
    request.axes.push_back(axis);
  }
  return {};
}

}  // namespace

Result<GroupRequest> parse_groups(const std::string& text) {
  GroupRequest request;
  request.text = text;
  const size_t colon = text.rfind(": ");  // names may hold colons, options do not
  if (colon == std::string::npos || colon == 0) return usage_error(text, "no axis is named", kForm);
  request.tensor = text.substr(0, colon);
  for (const std::string& option : split(text.substr(colon + 2), ' ')) {
    if (option.empty()) continue;
    const size_t equals = option.find('=');
    const std::string key = option.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : option.substr(equals + 1);
    if (key == "axis" || key == "axes")
      PARITAS_TRY(parse_axes(value, request));
    else if (key == "names")
      request.names = split(value, ',');
    else
      return usage_error(text, fmt::format("\"{}\" is not known here", option), kForm);
  }
  if (request.axes.empty()) return usage_error(text, "no axis is named", kForm);
  if (!request.names.empty() && request.names.size() != request.axes.size())
    return usage_error(text, fmt::format("{} axes have {} names", request.axes.size(), request.names.size()),
                       "name each axis, or none");
  return request;
}

Status resolve_groups(std::vector<GroupRequest>& requests, const onnx_model::GraphIndex& index) {
  for (GroupRequest& request : requests) {
    if (index.producer(request.tensor) >= 0) continue;
    auto node = std::find_if(index.nodes().begin(), index.nodes().end(),
                             [&](const auto& n) { return n.name == request.tensor; });
    if (node == index.nodes().end() || node->outputs.empty())
      return usage_error(request.text,
                         fmt::format("no node and no tensor that a node makes is called \"{}\"", request.tensor),
                         "paritas inspect lists the model's tensors with --verbose");
    request.tensor = node->outputs.front();
  }
  return {};
}

Result<std::vector<GroupReport>> group_reports(const Evidence& evidence, const std::vector<GroupRequest>& requests,
                                               std::vector<std::string>& notes) {
  std::vector<GroupReport> reports;
  const auto& index = evidence.prepared->index;
  const MarkedRun& marked = evidence.marked_forced ? *evidence.marked_forced : evidence.marked;
  for (const GroupRequest& request : requests) {
    auto reference = evidence.reference.find(request.tensor);
    if (reference == evidence.reference.end() || !is_float(reference->second.dtype)) {
      notes.push_back(fmt::format("{}: no float tensor that depends on the input, so it has no error", request.text));
      continue;
    }
    PARITAS_ASSIGN(const auto axes, resolve_axes(request.axes, reference->second.shape.size(), request.text));
    GroupReport report;
    report.tensor = request.tensor;
    const int producer = index.producer(request.tensor);
    if (producer >= 0) report.node = index.nodes()[static_cast<size_t>(producer)].name;
    for (size_t i = 0; i < axes.size(); ++i)
      report.names.push_back(request.names.empty() ? fmt::format("axis {}", axes[i])
                                                   : fmt::format("{} (axis {})", request.names[i], axes[i]));
    bool any = false;
    for (const auto& [run, tensors] :
         {std::pair("local", &evidence.probes.local), std::pair("accumulated", &marked.tensors)}) {
      auto device = tensors->find(request.tensor);
      if (device == tensors->end() || device->second.shape != reference->second.shape) continue;
      report.run = run;
      PARITAS_ASSIGN(report.figures, group_errors(reference->second, device->second, axes));
      reports.push_back(report);
      any = true;
    }
    if (!any) notes.push_back(fmt::format("{}: neither probed nor marked on the device", request.text));
  }
  return reports;
}

}  // namespace paritas
