#include "paritas/vendor/tensor_proto.h"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "paritas/onnx/model.h"
#include "paritas/vendor/remedies.h"

namespace paritas {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kRawData = 9;            // field numbers: TensorProto in onnx-ml.proto
constexpr uint32_t kLastField = 16;         // metadata_props
constexpr uint64_t kMaxOther = 2147483647;  // protobuf's own limit for what it parses
constexpr const char* kSaveAgain = "save it with onnx.save_tensor";

// A TensorProto without its raw_data, and where that lies in the file.
struct Split {
  std::string other;
  bool has_raw = false;
  uint64_t raw_offset = 0;
  uint64_t raw_size = 0;
};

class Splitter {
 public:
  Splitter(std::span<const std::byte> bytes, std::string subject) : bytes_(bytes), subject_(std::move(subject)) {}

  Result<Split> run() {
    Split split;
    while (at_ < bytes_.size()) {
      const uint64_t start = at_;
      PARITAS_ASSIGN(const uint64_t tag, varint());
      const uint64_t field = tag >> 3;
      if (field == 0 || field > kLastField) return wrong();
      uint64_t content = 0;
      PARITAS_TRY(skip(static_cast<int>(tag & 7), content));
      if (field == kRawData) {
        if ((tag & 7) != 2) return wrong();
        split.has_raw = true;
        split.raw_offset = at_ - content;
        split.raw_size = content;
      } else {
        if (split.other.size() + (at_ - start) > kMaxOther) return wrong();
        split.other.append(reinterpret_cast<const char*>(bytes_.data()) + start, at_ - start);
      }
    }
    return split;
  }

 private:
  Unexpected wrong() const {
    return input_error(subject_, fmt::format("is not an ONNX TensorProto, or is damaged at byte {}", at_), kSaveAgain);
  }

  Result<uint64_t> varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
      const auto byte = std::to_integer<uint64_t>(bytes_[at_++]);
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    return wrong();
  }

  // `content`: bytes of a length-delimited field.
  Status skip(int wire_type, uint64_t& content) {
    uint64_t length = 0;
    if (wire_type == 0) {
      PARITAS_TRY(varint());
    } else if (wire_type == 1 || wire_type == 5) {
      length = wire_type == 1 ? 8 : 4;
    } else if (wire_type == 2) {
      PARITAS_ASSIGN(length, varint());
      content = length;
    } else {
      return wrong();
    }
    if (length > bytes_.size() - at_) return wrong();
    at_ += length;
    return {};
  }

  std::span<const std::byte> bytes_;
  std::string subject_;
  uint64_t at_ = 0;
};

Result<uint64_t> number(const std::string& text, const std::string& subject) {
  uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc() && end == text.data() + text.size()) return value;
  return input_error(subject, fmt::format("its external data is at \"{}\", which is no position", printable(text)),
                     kSaveAgain);
}

// The range of another file that holds the data, checked against that file and the tensor's folder.
Result<Bytes> external_bytes(const ::onnx::TensorProto& proto, const Path& path, uint64_t expected) {
  std::string location;
  uint64_t offset = 0;
  uint64_t length = expected;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") {
      PARITAS_ASSIGN(offset, number(entry.value(), path.string()));
    }
    if (entry.key() == "length") {
      PARITAS_ASSIGN(length, number(entry.value(), path.string()));
    }
  }
  const Path folder = path.has_parent_path() ? path.parent_path() : Path(".");
  PARITAS_ASSIGN(const Path full, resolve_inside(folder, location));
  PARITAS_ASSIGN(auto file, File::open(full));
  if (length != expected || offset > file->size() || length > file->size() - offset)
    return input_error(path.string(),
                       fmt::format("its {} bytes at {} are not those of the tensor, or lie beyond {}", length, offset,
                                   printable(location)),
                       kSaveAgain);
  return Bytes::in_file(std::move(file), offset, length);
}

Result<Tensor> load(const Path& path, ::onnx::TensorProto& proto) {
  const std::string subject = path.string();
  PARITAS_ASSIGN(auto file, File::open(path));
  const uint64_t size = file->size();
  Split split;
  {
    PARITAS_ASSIGN(const auto mapping, Mapping::map(file, 0, size));
    PARITAS_ASSIGN(split, Splitter(mapping->bytes(), subject).run());
  }
  if (!proto.ParseFromString(split.other))
    return input_error(subject, "is not an ONNX TensorProto, or is damaged", kSaveAgain);
  if (!proto.has_data_type() || proto.data_type() == ::onnx::TensorProto::UNDEFINED)
    return input_error(subject, "is not an ONNX TensorProto: it names no data type", kSaveAgain);
  PARITAS_ASSIGN(const DType dtype, onnx_model::dtype_of(proto, subject));
  Shape shape(proto.dims().begin(), proto.dims().end());
  const auto count = element_count(shape);
  if (!count) return input_error(subject, count.error().cause, kSaveAgain);
  if (proto.data_location() == ::onnx::TensorProto::EXTERNAL) {
    PARITAS_ASSIGN(Bytes bytes, external_bytes(proto, path, byte_size(dtype, *count)));
    return make_tensor(dtype, std::move(shape), std::move(bytes), subject);
  }
  if (!split.has_raw) return onnx_model::tensor_from_proto(proto, subject);
  return make_tensor(dtype, std::move(shape), Bytes::in_file(std::move(file), split.raw_offset, split.raw_size),
                     subject);
}

// "input_12.pb" -> 12
std::optional<size_t> numbered(const std::string& file, std::string_view prefix) {
  if (!file.starts_with(prefix) || !file.ends_with(".pb")) return std::nullopt;
  const char* first = file.data() + prefix.size();
  const char* last = file.data() + file.size() - 3;
  size_t number = 0;
  const auto [end, code] = std::from_chars(first, last, number);
  if (code != std::errc() || end != last || first == last || *first == '-') return std::nullopt;
  return number;
}

Result<std::string> name_of(const TensorFile& file, size_t number, Role role, const std::string& subject,
                            const ImportContext& context, bool* by_position) {
  const ModelFacts& model = context.model;
  const auto& names = role == Role::kInput ? model.inputs() : model.outputs();
  const char* what = role == Role::kInput ? "input" : "output";
  if (!file.name.empty()) {
    if (model.path().empty() || std::find(names.begin(), names.end(), file.name) != names.end()) return file.name;
    return input_error(
        subject, fmt::format("holds \"{}\", which is no {} of {}", printable(file.name), what, model.path()),
        fmt::format("leave out {} to keep the file's names", declaration_text(context.options, Declaration::kModel)));
  }
  if (model.path().empty())
    return input_error(
        subject, "names no tensor",
        "name the model that the data belongs to with " + declaration_text(context.options, Declaration::kModel));
  if (number >= names.size())
    return input_error(subject, fmt::format("is {} {}, {} has {}", what, number, model.path(), names.size()),
                       "check that the model is the right one");
  *by_position = true;
  return names[number];
}

Result<FoundSample> find_data_set(const Path& folder, const ImportContext& context, bool* by_position) {
  FoundSample sample;
  PARITAS_ASSIGN(const auto files, list_files(folder));
  for (const auto& [prefix, role] : {std::pair{"input_", Role::kInput}, {"output_", Role::kOutput}})
    for (const std::string& file : files) {
      const auto number = numbered(file, prefix);
      if (!number) continue;
      if (role == Role::kInput && context.options.outputs_only) continue;
      PARITAS_ASSIGN(TensorFile one, find_tensor_proto(folder / file));
      PARITAS_ASSIGN(one.tensor.name, name_of(one, *number, role, (folder / file).string(), context, by_position));
      one.tensor.role = role;
      sample.push_back(std::move(one.tensor));
    }
  if (sample.empty()) return input_error(folder.string(), "holds no input_N.pb or output_N.pb", "check the path");
  return sample;
}

}  // namespace

Result<TensorFile> find_tensor_proto(const Path& path) {
  ::onnx::TensorProto proto;
  PARITAS_ASSIGN(const Tensor tensor, load(path, proto));
  TensorFile file;
  file.name = proto.name();
  file.tensor.name = proto.name();
  file.tensor.dtype = tensor.dtype;
  file.tensor.shape = tensor.shape;
  file.tensor.read = [path]() -> Result<Tensor> {
    ::onnx::TensorProto again;
    return load(path, again);
  };
  return file;
}

Result<Found> find_tensor_proto_file(const Path& path) {
  PARITAS_ASSIGN(TensorFile file, find_tensor_proto(path));
  if (file.name.empty()) file.tensor.name = path.stem().string();
  Found found;
  found.format = "tensor-proto";
  found.samples.push_back({});
  found.samples.back().push_back(std::move(file.tensor));
  return found;
}

Result<Found> find_test_data(const Path& folder, const ImportContext& context) {
  Found found;
  found.format = "test-data-set";
  std::vector<std::string> sets;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code))
    if (entry.is_directory(code) && entry.path().filename().string().starts_with("test_data_set_"))
      sets.push_back(entry.path().filename().string());
  std::sort(sets.begin(), sets.end(), natural_less);
  bool by_position = false;
  if (sets.empty()) {
    PARITAS_ASSIGN(FoundSample sample, find_data_set(folder, context, &by_position));
    found.samples.push_back(std::move(sample));
  }
  for (size_t i = 0; i < sets.size(); ++i) {
    PARITAS_ASSIGN(const Path inside, resolve_inside(folder, sets[i]));
    PARITAS_ASSIGN(FoundSample sample, find_data_set(folder / sets[i], context, &by_position));
    found.samples.push_back(std::move(sample));
    found.notes.push_back(fmt::format("sample {} is {}", i, printable(sets[i])));
  }
  if (by_position)
    found.notes.push_back(
        fmt::format("tensors without a name got that of {}: input_N.pb and output_N.pb are its N-th input and output",
                    context.model.path()));
  return found;
}

}  // namespace paritas
