#include "paritas/project/init.h"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "paritas/compare/pairing.h"
#include "paritas/onnx/edit.h"
#include "paritas/project/project.h"
#include "paritas/recording/recording.h"

namespace paritas {
namespace {

using onnx_model::InputInfo;

// A basic TOML string. Bytes that are no text of their own are escaped, so that nothing ends the line of a comment.
std::string toml_string(const std::string& text) {
  std::string out = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', static_cast<char>(c)};
    else if (c < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04X}", c);
    else
      out += static_cast<char>(c);
  }
  return out + "\"";
}

std::string key(const std::string& name) {
  const bool bare = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  });
  return bare ? name : toml_string(name);
}

std::string type_text(const InputInfo& tensor) {
  std::string dims;
  for (const std::string& dim : tensor.dims) dims += (dims.empty() ? "" : ",") + dim;
  const std::string text = fmt::format("{}{}", tensor.dtype ? name(*tensor.dtype) : "not a tensor",
                                       tensor.has_shape ? " [" + dims + "]" : "");
  std::string line = text;  // a dimension's name may hold anything
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return line;
}

// The path as the project file must give it, relative to its folder where that is possible.
std::string relative_path(const Path& path, const Path& output) {
  std::error_code code;
  const Path folder = std::filesystem::weakly_canonical(std::filesystem::absolute(output).parent_path(), code);
  const Path full = std::filesystem::weakly_canonical(std::filesystem::absolute(path), code);
  const Path relative = full.lexically_relative(folder);
  return code || relative.empty() ? path.string() : relative.string();
}

bool leads_out(const std::string& path) { return Path(path).is_absolute() || *Path(path).begin() == ".."; }

// What a name suggests; empty: nothing.
std::string role_for(const std::string& name) {
  std::string lower = name;
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const std::pair<const char*, const char*> hints[] = {
      {"logit", "logits"},    {"prob", "probabilities"}, {"softmax", "probabilities"},
      {"score", "scores"},    {"conf", "scores"},        {"box", "boxes"},
      {"label", "labels"},    {"class", "labels"},       {"feat", "feature"},
      {"embed", "embedding"}, {"mask", "mask"},          {"keypoint", "keypoints"}};
  for (const auto& [part, role] : hints)
    if (lower.find(part) != std::string::npos) return role;
  return {};
}

std::string model_part(const InitRequest& request, const std::vector<InputInfo>& inputs) {
  const std::string path = relative_path(request.model, request.output);
  std::string text = fmt::format(
      "# {} runs what this file declares; docs/project-file.md describes every key.\n"
      "schema = {}\n\n"
      "[model]\n"
      "reference = {}{}\n"
      "# device = \"quantised.onnx\"   # when the device runs another file\n",
      leads_out(path) ? "paritas check --allow-outside" : "paritas check", toml_string(kProjectSchema),
      toml_string(path), leads_out(path) ? "   # outside of this folder: check needs --allow-outside" : "");
  std::string free;
  std::set<std::string> named;
  for (const InputInfo& input : inputs)
    for (const std::string& dim : input.dims) {
      int64_t number = 0;
      const auto [end, code] = std::from_chars(dim.data(), dim.data() + dim.size(), number);
      const bool fixed = code == std::errc() && end == dim.data() + dim.size();
      if (!fixed && dim != "?" && named.insert(dim).second) free += (free.empty() ? "" : ", ") + key(dim) + " = 1";
    }
  text += free.empty() ? "# all dimensions of the inputs are fixed\n"
                       : fmt::format("# dims = {{ {} }}   # free dimensions; else they follow from the inputs\n", free);
  return text;
}

std::string input_part(const InitRequest& request, const std::vector<InputInfo>& inputs) {
  std::string text = "\n# What both sides are fed with. One of: file, files (a file a sample), image, images, value.\n";
  for (const InputInfo& input : inputs) {
    std::string file = input.name + ".npy";  // as people save it
    for (char& c : file)
      if (c == '/' || c == ':' || c == '\\' || static_cast<unsigned char>(c) < 0x20) c = '_';
    std::error_code code;
    const bool there = std::filesystem::exists(request.output.parent_path() / file, code);
    text += fmt::format("\n[inputs.{}]   # {}\nfile = {}{}\n", key(input.name), type_text(input), toml_string(file),
                        there ? "" : "   # does not exist yet: .npy, .safetensors, or raw with dtype and shape");
    text += "# quantisation = { scale = 0.0078, zero_point = 128 }   # when one side is fed with codes\n";
    if (input.dims.size() == 4)
      text += fmt::format(
          "# instead of file:\n"
          "# image = \"photo.jpg\"\n"
          "# [inputs.{}.steps]   # docs/images.md has all of them\n"
          "# resize = {{ width = 224, height = 224, filter = \"bilinear\" }}\n"
          "# divide_by = 255\n"
          "# mean = [0.485, 0.456, 0.406]\n"
          "# std = [0.229, 0.224, 0.225]\n"
          "# layout = \"NCHW\"\n",
          key(input.name));
    if (input.dims.size() == 2 && input.dims[1] == "2" && input.dtype)
      text += fmt::format("# instead of file:\n# value = [640, 480]\n# dtype = \"{}\"\n# shape = [1, 2]\n",
                          name(*input.dtype));
  }
  return text;
}

// "{ a = "float32", b = "int8" }"
template <class T, class Text>
std::string inline_table(const std::map<std::string, T>& table, Text text) {
  std::string entries;
  for (const auto& [name, value] : table)
    entries += fmt::format("{}{} = {}", entries.empty() ? "" : ", ", key(name), text(value));
  return "{ " + entries + " }";
}

// The keys of [recordings.device] that say how the dump is read: as it was just now; else as comments.
std::string dump_keys(const InitRequest& request) {
  const ImportOptions& import = request.import;
  std::string text;
  const auto file = [&](const char* name, const Path& path) {
    const std::string relative = relative_path(path, request.output);
    text += fmt::format("{} = {}{}\n", name, toml_string(relative),
                        leads_out(relative) ? "   # outside of this folder: check needs --allow-outside" : "");
  };
  if (!is_recording(*request.dump)) file("model", request.model);  // shapes, types and roles that files do not tell
  text += import.format.empty()
              ? "# format = \"net-run\"   # paritas import --help lists the formats; else it is detected\n"
              : fmt::format("format = {}\n", toml_string(import.format));
  if (import.dtype) text += fmt::format("dtype = \"{}\"\n", name(*import.dtype));
  text += import.dtypes.empty() ? "# dtypes = { scores = \"float32\" }\n"
                                : fmt::format("dtypes = {}\n", inline_table(import.dtypes, [](DType dtype) {
                                                return fmt::format("\"{}\"", name(dtype));
                                              }));
  text += import.shapes.empty() ? "# shapes = { scores = [1, 40] }\n"
                                : fmt::format("shapes = {}\n", inline_table(import.shapes, to_string));
  if (import.names) file("names", *import.names);
  if (import.input_list) file("input_list", *import.input_list);
  if (!import.runner.empty()) text += fmt::format("runner = {}\n", toml_string(import.runner));
  return text + (import.outputs_only ? "" : "# ") + "outputs_only = true   # leave recorded inputs out\n";
}

std::string sides_part(const InitRequest& request) {
  const std::string head =
      "\n# A side is run on a target (paritas targets lists them) or read from a recording.\n[targets]\nreference = "
      "\"cpu\"\n";
  const std::string marks = "# marks = [\"feature_*\"]   # intermediates to record and compare\n";
  if (!request.dump)
    return head + "device = \"sim:fp16\"   # or \"qnn:htp,soc_model=77,htp_arch=73\", ...\n" + marks +
           "\n# [recordings]\n# device = \"dumps/board\"   # then leave the device out of [targets]\n"
           "# reference = \"dumps/host\"   # with both: leave [targets] and [inputs] out\n";
  const std::string path = relative_path(*request.dump, request.output);
  return head + marks +
         fmt::format("\n[recordings.device]\npath = {}{}\n", toml_string(path),
                     leads_out(path) ? "   # outside of this folder: check needs --allow-outside" : "") +
         dump_keys(request);
}

std::string outputs_part(const std::vector<InputInfo>& outputs) {
  std::string text =
      "\n# What outputs mean, for gates on roles. Only you know: these are guesses from names.\n# Roles: ";
  for (size_t i = 0; i < known_roles().size(); ++i) text += (i ? ", " : "") + known_roles()[i];
  text += ".\n";
  for (const InputInfo& output : outputs) {
    const std::string role = role_for(output.name);
    text += fmt::format("# [outputs.{}]   # {}\n# role = \"{}\"\n", key(output.name), type_text(output),
                        role.empty() ? "..." : role);
  }
  return text +
         "# quantisation = { scale = 0.065, zero_point = 75 }   # of an integer output whose recording has none\n";
}

std::string pairing_part(const std::vector<std::string>& reference, const std::vector<std::string>& device) {
  std::string text =
      "\n# [pairing]\n# names = \"normalised\"   # exact by default; the rules are in docs/compare.md\n"
      "# inputs_unverified = true   # judge although inputs are not recorded on both sides\n"
      "# ranked = [{ scores = \"scores\", ids = \"labels\" }]   # ids of equal scores may come in any order\n";
  std::string missing;
  for (const std::string& name : reference)
    if (!device.empty() && std::find(device.begin(), device.end(), name) == device.end())
      missing += fmt::format("{}{} = \"...\"", missing.empty() ? "" : ", ", key(name));
  if (!missing.empty())
    text += fmt::format("# aliases = {{ {} }}   # the dump has no tensors of these names\n", missing);
  else
    text += "# aliases = { \"reference name\" = \"device name\" }\n";
  if (!device.empty()) {
    text += "# the dump has: ";
    for (size_t i = 0; i < device.size() && i < 20; ++i) text += (i ? ", " : "") + toml_string(device[i]);
    text += device.size() > 20 ? fmt::format(" and {} more\n", device.size() - 20) : "\n";
  }
  return text;
}

constexpr const char* kRest = R"(
# What is good enough, declared before anything runs (docs/gates.md). Without gates nothing passes.
# [gates]
# profiles = ["fp16-device"]   # strict-fp32, w8a8-steps, detection-export, detection-device, monitor
# nonfinite = "same-inf"       # or forbid, equal
# extra_outputs = "forbid"     # or allow
# dtypes = "may-differ"        # or exact
# [[gate]]
# role = "scores"              # or tensor = "name or pattern", type = "float", task = "name of a task"
# metric = "cosine"
# op = ">="
# value = 0.99

# Does the answer stay the same? (docs/task-checks.md)
# [[task]]
# type = "classification"
# name = "classes"
# output = "logits"
# values = "logits"            # or probabilities
# labels = "labels.txt"
#
# [[task]]
# type = "detection"
# name = "detections"
# boxes = "boxes"
# scores = "scores"
# labels = "labels"
# format = "xyxy"              # or xywh, cxcywh, yxyx
# num_detections = "count"     # where rows behind a number of detections are padding
# box_layout = "columns"       # where boxes are [batch,4,N]; score_layout likewise
#
# [[task]]
# type = "command"             # runs with paritas check --allow-exec only
# name = "map"
# command = ["python3", "evaluate.py", "{device}"]
# outputs = ["boxes"]          # that it judges

# The comparison and every task always run; these come on top.
# [[step]]
# type = "locate"              # where a deviation begins
# when = "no pass"             # or always
#
# [[step]]
# type = "size-probe"          # is the size input [width, height] or [height, width]?
# input = "orig_target_sizes"
# boxes = "boxes"
# format = "xyxy"
# order = "wh"                 # or hw; leave out to be told

# Positions in the model that are used again in every release; a check says when one is gone.
# [cuts]
# encoder = ["feature_0", "feature_1"]
# [probes]
# positions = ["/dec/layers.0/*"]
)";

}  // namespace

Result<std::string> make_project(const InitRequest& request) {
  PARITAS_ASSIGN(const auto model, onnx_model::Model::load(request.model));
  const auto inputs = onnx_model::describe_inputs(model);
  const auto outputs = onnx_model::describe_outputs(model);
  std::vector<std::string> reference, device;
  for (const InputInfo& output : outputs) reference.push_back(output.name);
  if (request.dump) {
    ImportOptions options = request.import;
    options.model = request.model;
    PARITAS_ASSIGN(const auto stream, open_any(*request.dump, options));
    for (const TensorInfo& tensor : stream->info().tensors) device.push_back(tensor.name);
  }
  std::string text = model_part(request, inputs) + input_part(request, inputs) + sides_part(request) +
                     outputs_part(outputs) + pairing_part(reference, device) + kRest;
  // What is written must be read again: names of tensors may hold anything.
  PARITAS_TRY(parse_project(text, request.output.string()));
  return text;
}

}  // namespace paritas
