#include "paritas/vendor/import.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "paritas/recording/recording.h"
#include "paritas/tensor/npy.h"
#include "paritas/tensor/safetensors.h"
#include "paritas/vendor/found.h"
#include "paritas/vendor/net_run.h"
#include "paritas/vendor/npz.h"
#include "paritas/vendor/polygraphy.h"
#include "paritas/vendor/raw.h"
#include "paritas/vendor/remedies.h"
#include "paritas/vendor/tensor_proto.h"
#include "paritas/vendor/tflite_outputs.h"
#include "paritas/vendor/trtexec.h"

namespace paritas {
namespace {

namespace fs = std::filesystem;

FoundTensor known(std::string name, Tensor tensor) {
  return {std::move(name), std::nullopt, tensor.dtype, tensor.shape, [tensor]() -> Result<Tensor> { return tensor; }};
}

Result<FoundSample> find_safetensors(const Path& path) {
  PARITAS_ASSIGN(SafetensorsFile file, read_safetensors(path));
  FoundSample sample;
  for (auto& [name, tensor] : file.tensors) sample.push_back(known(name, std::move(tensor)));
  return sample;
}

FoundTensor npy_on_disk(std::string name, const Path& path, const Tensor& header) {
  return {std::move(name), std::nullopt, header.dtype, header.shape, [path] { return read_npy(path); }};
}

Result<Found> find_npy(const Path& path, const ImportContext&) {
  PARITAS_ASSIGN(Tensor tensor, read_npy(path));
  Found found{"npy", {}, {}};
  found.samples.emplace_back().push_back(known("data", std::move(tensor)));
  return found;
}

Result<Found> find_safetensors_file(const Path& path, const ImportContext&) {
  Found found{"safetensors", {}, {}};
  PARITAS_ASSIGN(FoundSample sample, find_safetensors(path));
  found.samples.push_back(std::move(sample));
  return found;
}

Result<Found> find_npz_file(const Path& path, const ImportContext& context) {
  Found found{"npz", {}, {}};
  PARITAS_ASSIGN(FoundSample sample, find_npz(path, context.options));
  found.samples.push_back(std::move(sample));
  return found;
}

bool has_extension(const std::string& file, const char* extension) { return Path(file).extension() == extension; }

// .npy files are the tensors of one sample; .npz or .safetensors files are one sample each.
Result<Found> find_array_folder(const Path& folder, const ImportContext& context) {
  PARITAS_ASSIGN(const auto files, list_files(folder));
  Found found{"folder", {}, {}};
  FoundSample arrays;
  std::set<std::string> kinds;
  for (const std::string& file : files) {
    const Path path = folder / file;
    if (has_extension(file, ".npy")) {
      PARITAS_ASSIGN(const Tensor tensor, read_npy(path));
      arrays.push_back(npy_on_disk(Path(file).replace_extension().string(), path, tensor));
    } else if (has_extension(file, ".npz")) {
      PARITAS_ASSIGN(FoundSample sample, find_npz(path, context.options));
      found.samples.push_back(std::move(sample));
    } else if (has_extension(file, ".safetensors")) {
      PARITAS_ASSIGN(FoundSample sample, find_safetensors(path));
      found.samples.push_back(std::move(sample));
    } else {
      continue;
    }
    kinds.insert(path.extension().string());
    if (kinds.size() > 1)
      return input_error(folder.string(), fmt::format("holds {} and {} files", *kinds.begin(), *kinds.rbegin()),
                         "which are the tensors? keep one kind in the folder");
    if (*kinds.begin() != ".npy") {
      found.notes.push_back(fmt::format("sample {} is {}", found.samples.size() - 1, printable(file)));
      found.sample_names.push_back(printable(Path(file).replace_extension().string()));
    }
  }
  if (!arrays.empty()) found.samples.push_back(std::move(arrays));
  return found;
}

Result<Found> find_raw_any(const Path& path, const ImportContext& context) { return find_raw_files(path, context); }

Result<Found> find_polygraphy_file(const Path& path, const ImportContext& context) {
  return find_polygraphy(path, context.options);
}

Result<Found> find_proto_file(const Path& path, const ImportContext&) { return find_tensor_proto_file(path); }

using Finder = Result<Found> (*)(const Path&, const ImportContext&);

struct Format {
  const char* name;
  const char* what;
  const char* fixture;
  Finder find;  // nullptr: a recording
};

// One entry per format; docs/formats.md has a section for each, in the same order.
constexpr std::array<Format, 13> kFormats = {{
    {"recording", "folder that paritas run or import wrote", "written by Paritas in its own tests", nullptr},
    {"npy", "one array of NumPy", "NumPy, tests/interop/npy_numpy.py", find_npy},
    {"npz", "archive of numpy.savez and savez_compressed", "NumPy, tests/interop/import_numpy.py", find_npz_file},
    {"safetensors", "one file of named tensors", "safetensors, tests/interop/import_safetensors.py",
     find_safetensors_file},
    {"folder", "folder of .npy (tensors), or of .npz or .safetensors files (samples)",
     "NumPy, tests/interop/import_numpy.py", find_array_folder},
    {"tensor-proto", "one ONNX TensorProto (.pb)", "onnx, tests/interop/import_onnx.py", find_proto_file},
    {"test-data-set", "ONNX test_data_set_N folder, or the folder of several", "onnx, tests/interop/import_onnx.py",
     find_test_data},
    {"polygraphy", "Polygraphy's RunResults or input data (JSON)", "Polygraphy 0.53.6, tests/data/polygraphy",
     find_polygraphy_file},
    {"net-run", "snpe-net-run, qnn-net-run: input_list.txt, output/Result_N/NAME.raw", "", find_net_run},
    {"trtexec-json", "trtexec --exportOutput (JSON)", "", find_trtexec_json},
    {"trtexec-raw", "trtexec --dumpRawBindingsToFile: NAME.output.1.3.224.224.Float.raw", "", find_trtexec_raw},
    {"tflite-outputs",
     "benchmark_model --output_filepath: all outputs in one file, in the model's order (needs --model)", "",
     find_tflite_outputs},
    {"raw", "bytes without a header (.raw, .bin); types and shapes from elsewhere",
     "NumPy's tofile, tests/interop/import_numpy.py", find_raw_any},
}};

std::string format_names() {
  std::string names;
  for (const Format& format : kFormats) names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

std::string start_of_file(const Path& path) {
  std::string start;
  if (const auto file = File::open(path)) {
    start.resize(std::min<uint64_t>(512, (*file)->size()));
    if (!(*file)->read(0, std::as_writable_bytes(std::span(start)))) start.clear();
  }
  return start;
}

// Loading a pickle runs whatever it says.
Unexpected pickle_error(const Path& path) {
  return input_error(path.string(), "is a Python pickle: loading it runs whatever code it holds, so it is never read",
                     "save the tensors with numpy.savez(FILE, **arrays) or safetensors.torch.save_file");
}

bool has_pickle_extension(const Path& path) {
  const std::string extension = path.extension().string();
  for (const char* known : {".pkl", ".pickle", ".pt", ".pth", ".joblib"})
    if (extension == known) return true;
  return false;
}

// Protocols 2 to 5 start with their number; older ones are text.
bool starts_like_pickle(const std::string& start) {
  return start.size() > 2 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5;
}

// "[ { "name" : "..." starts trtexec's output; tensors of Polygraphy's inputs are objects.
bool looks_like_trtexec(std::string_view start) {
  std::string squeezed;
  for (const char c : start)
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') squeezed += c;
  return squeezed.starts_with("[{\"name\":\"");
}

std::vector<std::string> detect_file(const Path& path, const std::string& start) {
  const std::string name = path.filename().string();
  if (has_extension(name, ".npy") || start.starts_with("\x93NUMPY")) return {"npy"};
  if (has_extension(name, ".safetensors")) return {"safetensors"};
  if (has_extension(name, ".npz") || is_zip(path)) return {"npz"};
  if (has_extension(name, ".pb")) return {"tensor-proto"};
  if (has_extension(name, ".json")) return {looks_like_trtexec(start) ? "trtexec-json" : "polygraphy"};
  if (has_extension(name, ".txt") && name.find("input_list") != std::string::npos) return {"net-run"};
  if (is_raw_name(name)) return {"raw"};
  return {};
}

Result<std::vector<std::string>> detect_folder(const Path& path) {
  if (is_recording(path)) return std::vector<std::string>{"recording"};
  if (result_root(path)) return std::vector<std::string>{"net-run"};
  PARITAS_ASSIGN(const auto files, list_files(path));
  std::set<std::string> fits;
  for (const std::string& file : files) {
    const std::string name = Path(file).filename().string();
    const bool data_set = Path(file).parent_path().filename().string().starts_with("test_data_set_");
    if (has_extension(name, ".npy") || has_extension(name, ".npz") || has_extension(name, ".safetensors"))
      fits.insert("folder");
    else if (has_extension(name, ".pb") && (data_set || name.starts_with("input_") || name.starts_with("output_")))
      fits.insert("test-data-set");
    else if (parse_trtexec_raw_name(name))
      fits.insert("trtexec-raw");
    else if (is_raw_name(name))
      fits.insert("raw");
  }
  return std::vector<std::string>(fits.begin(), fits.end());
}

Result<std::string> detect(const Path& path, const ImportOptions& options) {
  std::error_code code;
  std::vector<std::string> fits;
  if (fs::is_directory(path, code)) {
    PARITAS_ASSIGN(fits, detect_folder(path));
  } else {
    PARITAS_TRY(File::open(path));
    const std::string start = start_of_file(path);
    if (has_pickle_extension(path)) return pickle_error(path);
    fits = detect_file(path, start);
    if (fits.empty() && starts_like_pickle(start)) return pickle_error(path);
  }
  if (fits.size() == 1) return fits.front();
  if (fits.empty())
    return input_error(path.string(), "is neither a recording nor in a format that is read",
                       fmt::format("if you know its format, name it with {}: {}",
                                   declaration_text(options, Declaration::kFormat), format_names()));
  std::string list;
  for (const std::string& fit : fits) list += (list.empty() ? "" : " and ") + fit;
  return input_error(path.string(), fmt::format("fits several formats: {}", list),
                     "choose one with " + declaration_text(options, Declaration::kFormat));
}

const Format* find_format(const std::string& name) {
  for (const Format& format : kFormats)
    if (format.name == name) return &format;
  return nullptr;
}

// A recording without its inputs.
class OutputsOnly : public SampleStream {
 public:
  explicit OutputsOnly(std::unique_ptr<SampleStream> inner) : inner_(std::move(inner)), info_(inner_->info()) {
    for (const TensorInfo& tensor : info_.tensors)
      if (tensor.role == Role::kInput) inputs_.insert(tensor.name);
    std::erase_if(info_.tensors, [](const TensorInfo& tensor) { return tensor.role == Role::kInput; });
  }
  const RunInfo& info() const override { return info_; }
  const std::string& subject() const override { return inner_->subject(); }
  uint64_t sample_count() const override { return inner_->sample_count(); }
  Result<Sample> sample(uint64_t index) override {
    PARITAS_ASSIGN(Sample sample, inner_->sample(index));
    std::erase_if(sample.tensors, [this](const auto& entry) { return inputs_.count(entry.first) != 0; });
    return sample;
  }

 private:
  std::unique_ptr<SampleStream> inner_;
  RunInfo info_;
  std::set<std::string> inputs_;
};

Result<std::unique_ptr<SampleStream>> open_recording(const Path& path, const ImportOptions& options) {
  const std::pair<const char*, bool> of_dumps[] = {{"a type", options.dtype || !options.dtypes.empty()},
                                                   {"shapes", !options.shapes.empty()},
                                                   {"names", options.names.has_value()},
                                                   {"an input list", options.input_list.has_value()},
                                                   {"a runner", !options.runner.empty()}};
  for (const auto& [what, given] : of_dumps)
    if (given && options.taken == nullptr)
      return usage_error(path.string(), fmt::format("is a recording, and {} was given for it", what),
                         "leave that out: a recording tells its names, types and shapes itself");
  PARITAS_ASSIGN(auto stream, open_samples(path, {options.verify_hashes}));
  if (!options.outputs_only) return stream;
  return std::unique_ptr<SampleStream>(std::make_unique<OutputsOnly>(std::move(stream)));
}

}  // namespace

std::vector<FormatInfo> import_formats() {
  std::vector<FormatInfo> list;
  for (const Format& format : kFormats) list.push_back({format.name, format.what, format.fixture});
  return list;
}

Status check_taken(const ImportOptions& options, const TakenDeclarations& taken) {
  const auto unused = [&](Declaration what, const std::string& value) {
    return usage_error(declaration_subject(options, what, value),
                       "no source has a tensor of that name whose type and shape it leaves open",
                       "check the name, or leave it out");
  };
  for (const auto& [tensor, dtype] : options.dtypes)
    if (taken.tensors.count(tensor) == 0) return unused(Declaration::kDtype, tensor);
  for (const auto& [tensor, shape] : options.shapes)
    if (taken.tensors.count(tensor) == 0) return unused(Declaration::kShape, tensor);
  if (options.input_list && !taken.input_list)
    return usage_error(declaration_subject(options, Declaration::kInputList, options.input_list->string()),
                       "no source is a whole net-run dump", "leave it out");
  if (!options.runner.empty() && !taken.runner)
    return usage_error(declaration_subject(options, Declaration::kRunner, options.runner),
                       "no source holds the results of several runners", "leave it out");
  return {};
}

Result<std::string> format_of(const Path& path, const ImportOptions& options) {
  std::error_code code;
  if (!fs::exists(path, code)) return input_error(printable(path.string()), "no such file or folder", "check the path");
  std::string name = options.format;
  if (name.empty()) {
    PARITAS_ASSIGN(name, detect(path, options));
  } else if (has_pickle_extension(path)) {
    return pickle_error(path);
  }
  if (find_format(name) == nullptr)
    return usage_error(declaration_subject(options, Declaration::kFormat, name), "is not a format",
                       fmt::format("there are: {}", format_names()));
  return name;
}

Result<std::unique_ptr<SampleStream>> open_any(const Path& path, const ImportOptions& options) {
  PARITAS_ASSIGN(const std::string name, format_of(path, options));
  const Format* format = find_format(name);
  if (format->find == nullptr) return open_recording(path, options);
  ModelFacts model;
  if (options.model) {
    PARITAS_ASSIGN(model, ModelFacts::load(*options.model));
  }
  ImportContext context{options, model};
  if (options.names) {
    PARITAS_ASSIGN(context.names, read_names(*options.names));
  }
  PARITAS_ASSIGN(Found found, format->find(path, context));
  return make_stream(path, std::move(found), context);
}

}  // namespace paritas
