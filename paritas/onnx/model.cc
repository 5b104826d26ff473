#include "paritas/onnx/model.h"

#include <charconv>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include "paritas/onnx/thin.h"
#include "paritas/onnx/walk.h"

namespace paritas::onnx_model {
namespace {

constexpr const char* kLocation = "location";

// Entries of TensorProto.external_data.
struct External {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

Result<uint64_t> parse_number(const ::onnx::StringStringEntryProto& entry, const std::string& subject,
                              const std::string& tensor) {
  uint64_t value = 0;
  const std::string& text = entry.value();
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size())
    return input_error(
        subject, fmt::format("tensor \"{}\": external {} \"{}\" is not a number of bytes", tensor, entry.key(), text),
        "export the model again");
  return value;
}

Result<External> parse_external(const ::onnx::TensorProto& tensor, const std::string& subject) {
  External external;
  std::unordered_set<std::string> seen;
  for (const auto& entry : tensor.external_data()) {
    if (!seen.insert(entry.key()).second)
      return input_error(subject, fmt::format("tensor \"{}\": external {} is given twice", tensor.name(), entry.key()),
                         "export the model again");
    if (entry.key() == kLocation) external.location = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    PARITAS_ASSIGN(const uint64_t number, parse_number(entry, subject, tensor.name()));
    if (entry.key() == "offset") external.offset = number;
    if (entry.key() == "length") external.length = number;
  }
  return external;
}

// Bytes that type and shape ask for; nullopt for types that DType does not know.
Result<std::optional<uint64_t>> expected_size(const ::onnx::TensorProto& tensor, const std::string& subject) {
  const auto count = element_count(Shape(tensor.dims().begin(), tensor.dims().end()));
  if (!count)
    return input_error(subject, fmt::format("tensor \"{}\": {}", tensor.name(), count.error().cause),
                       "export the model again");
  const auto dtype = dtype_from_onnx(tensor.data_type());
  if (!dtype) return std::optional<uint64_t>();
  return std::optional<uint64_t>(byte_size(*dtype, *count));
}

void set_location(::onnx::TensorProto& tensor, const std::string& location) {
  tensor.clear_external_data();
  auto* entry = tensor.add_external_data();
  entry->set_key(kLocation);
  entry->set_value(location);
  tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
}

// Shape inference of the runtime reads small constants, and refuses external ones.
Status make_inline(::onnx::TensorProto& tensor, const Bytes& bytes) {
  std::string& raw = *tensor.mutable_raw_data();
  raw.resize(bytes.size());
  PARITAS_TRY(bytes.read(0, std::as_writable_bytes(std::span(raw))));
  tensor.clear_external_data();
  tensor.clear_data_location();
  return {};
}

const std::string* location_of(const ::onnx::TensorProto& tensor) {
  for (const auto& entry : tensor.external_data())
    if (entry.key() == kLocation) return &entry.value();
  return nullptr;
}

// External files of one model, each opened once.
class ExternalFiles {
 public:
  ExternalFiles(const Path& folder, const std::string& subject) : folder_(folder), subject_(subject) {}

  Result<Bytes> range(const ::onnx::TensorProto& tensor) {
    PARITAS_ASSIGN(const External external, parse_external(tensor, subject_));
    PARITAS_ASSIGN(const auto file, open(external.location, tensor.name()));
    PARITAS_ASSIGN(const auto expected, expected_size(tensor, subject_));
    if (external.offset > file->size()) return past_the_end(tensor, *file, external.offset, 0);
    const uint64_t rest = file->size() - external.offset;
    const uint64_t size = external.length ? *external.length : expected.value_or(rest);
    if (size > rest) return past_the_end(tensor, *file, external.offset, size);
    if (expected && size != *expected)
      return input_error(subject_,
                         fmt::format("tensor \"{}\": {} bytes in {}, type and shape ask for {}", tensor.name(), size,
                                     external.location, *expected),
                         "export the model again");
    return Bytes::in_file(file, external.offset, size);
  }

 private:
  Result<std::shared_ptr<const File>> open(const std::string& location, const std::string& tensor) {
    if (const auto it = files_.find(location); it != files_.end()) return it->second;
    const auto path = resolve_inside(folder_, location);
    if (!path)
      return input_error(
          subject_,
          fmt::format("tensor \"{}\": external data \"{}\" does not stay inside the model's folder", tensor, location),
          "keep weights beside the model");
    auto file = File::open(*path);
    if (!file)
      return input_error(subject_,
                         fmt::format("tensor \"{}\": external data {}: {}", tensor, location, file.error().cause),
                         "keep the model's data file beside it");
    files_.emplace(location, *file);
    return *file;
  }

  Unexpected past_the_end(const ::onnx::TensorProto& tensor, const File& file, uint64_t offset, uint64_t size) const {
    return input_error(subject_,
                       fmt::format("tensor \"{}\": {} bytes from byte {} of {} were expected, the file ends at byte {}",
                                   tensor.name(), size, offset, file.path().filename().string(), file.size()),
                       "the data file is truncated or belongs to another model: copy it again");
  }

  Path folder_;
  std::string subject_;
  std::unordered_map<std::string, std::shared_ptr<const File>> files_;
};

Status parse_proto(const std::string& bytes, ::onnx::ModelProto& proto, const std::string& subject) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    return input_error(subject, "the graph without its large tensors is over 2 GiB", "keep weights as raw data");
  ::google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                  static_cast<int>(bytes.size()));
  stream.SetTotalBytesLimit(std::numeric_limits<int>::max());
  stream.SetRecursionLimit(100);
  if (!proto.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return input_error(subject, "is not an ONNX model, or is damaged", "export or copy the model again");
  return {};
}

Status check_structure(const ::onnx::ModelProto& proto, const std::string& subject) {
  if (!proto.has_graph() || proto.graph().node_size() == 0 || proto.graph().output_size() == 0)
    return input_error(subject, "is not an ONNX model: it holds no graph with nodes and outputs", "check the path");
  if (proto.ir_version() <= 0)
    return input_error(subject, "is not an ONNX model: it states no IR version", "export the model again");
  if (proto.opset_import_size() == 0)
    return input_error(subject, "states no operator set (opset_import)", "export the model again");
  return {};
}

}  // namespace

Result<Model> Model::finish(std::string thin, std::vector<Bytes> left_out, const Path& folder, Path path,
                            const std::string& subject) {
  Model model;
  model.path_ = std::move(path);
  model.subject_ = subject;
  model.proto_ = std::make_shared<::onnx::ModelProto>();
  PARITAS_TRY(parse_proto(thin, *model.proto_, subject));
  thin = {};
  PARITAS_TRY(check_structure(*model.proto_, subject));
  for (size_t i = 0; i < left_out.size(); ++i) model.weights_.emplace(weight_key(i), left_out[i]);
  PARITAS_TRY(model.resolve_tensors(left_out.size(), folder));
  return model;
}

// Replaces the locations of external data by keys of weights_. The keys that thinning made are there already; each is
// met once, so that a file which states such a name itself is found out.
Status Model::resolve_tensors(size_t left_out, const Path& folder) {
  ExternalFiles files(folder, subject_);
  std::unordered_set<std::string> own;
  for (size_t i = 0; i < left_out; ++i) own.insert(weight_key(i));
  return for_each_tensor(*proto_, [&](::onnx::TensorProto& tensor) -> Status {
    if (tensor.data_location() != ::onnx::TensorProto::EXTERNAL) {
      tensor.clear_external_data();
      return {};
    }
    const std::string* location = location_of(tensor);
    if (location != nullptr && tensor.external_data_size() == 1 && own.erase(*location) == 1) return {};
    PARITAS_ASSIGN(Bytes bytes, files.range(tensor));
    if (bytes.size() < kInlineLimit) return make_inline(tensor, bytes);
    const std::string key = weight_key(weights_.size());
    weights_.emplace(key, std::move(bytes));
    tensor.clear_raw_data();
    set_location(tensor, key);
    return {};
  });
}

Result<Model> Model::load(const Path& path) {
  PARITAS_ASSIGN(const std::shared_ptr<const File> file, File::open(path));
  PARITAS_ASSIGN(const std::shared_ptr<const Mapping> mapping, Mapping::map(file, 0, file->size()));
  PARITAS_ASSIGN(ThinModel thin, leave_out_large_tensors(mapping->bytes(), path.string()));
  std::vector<Bytes> left_out;
  for (const LeftOut& range : thin.left_out) left_out.push_back(Bytes::in_file(file, range.offset, range.size));
  const Path folder = path.has_parent_path() ? path.parent_path() : Path(".");
  return finish(std::move(thin.bytes), std::move(left_out), folder, path, path.string());
}

Result<Model> Model::parse(std::span<const std::byte> bytes, const Path& folder, const std::string& subject) {
  PARITAS_ASSIGN(ThinModel thin, leave_out_large_tensors(bytes, subject));
  std::vector<Bytes> left_out;
  for (const LeftOut& range : thin.left_out) {
    const auto part = bytes.subspan(range.offset, range.size);
    left_out.push_back(Bytes::in_memory({part.begin(), part.end()}));
  }
  return finish(std::move(thin.bytes), std::move(left_out), folder, {}, subject);
}

Model Model::clone() const {
  Model copy;
  copy.proto_ = std::make_shared<::onnx::ModelProto>(*proto_);
  copy.path_ = path_;
  copy.subject_ = subject_;
  copy.weights_ = weights_;
  return copy;
}

Result<Tensor> Model::tensor(const ::onnx::TensorProto& proto) const {
  if (proto.data_location() != ::onnx::TensorProto::EXTERNAL) return tensor_from_proto(proto, subject_);
  const std::string* location = location_of(proto);
  const auto it = location == nullptr ? weights_.end() : weights_.find(*location);
  if (it == weights_.end())
    return input_error(subject_, fmt::format("tensor \"{}\": its data is not part of this model", proto.name()));
  PARITAS_ASSIGN(const DType dtype, dtype_of(proto, subject_));
  return make_tensor(dtype, Shape(proto.dims().begin(), proto.dims().end()), it->second,
                     fmt::format("{}: tensor \"{}\"", subject_, proto.name()));
}

void Model::add_initializer(const std::string& name, const Tensor& value) {
  if (proto_->ir_version() < 4) proto_->set_ir_version(4);
  auto* added = graph().add_initializer();
  if (value.bytes.size() < kInlineLimit) {
    if (auto inline_proto = proto_from_tensor(name, value)) {
      *added = std::move(*inline_proto);
      return;
    }
    // Its file cannot be read now: save() will say so.
  }
  added->set_name(name);
  added->set_data_type(onnx_code(value.dtype));
  for (const int64_t dim : value.shape) added->add_dims(dim);
  const std::string key = weight_key(weights_.size());
  weights_.emplace(key, value.bytes);
  set_location(*added, key);
}

namespace {

constexpr uint64_t kAlignment = 64;
constexpr size_t kBlock = size_t{1} << 20;

Status append_bytes(AtomicFile& file, const Bytes& bytes, std::vector<std::byte>& buffer) {
  buffer.resize(kBlock);
  for (uint64_t at = 0; at < bytes.size();) {
    const auto part = std::span(buffer).first(static_cast<size_t>(std::min<uint64_t>(kBlock, bytes.size() - at)));
    PARITAS_TRY(bytes.read(at, part));
    PARITAS_TRY(file.write(part));
    at += part.size();
  }
  return {};
}

// Weights in the order of first use, ranges of a file that several tensors share once.
class WeightsLayout {
 public:
  uint64_t place(const std::string& key, const Bytes& bytes) {
    if (const auto it = by_key_.find(key); it != by_key_.end()) return it->second;
    uint64_t offset = 0;
    const std::string range = bytes.file() == nullptr
                                  ? key
                                  : fmt::format("{}:{}:{}", fmt::ptr(bytes.file().get()), bytes.offset(), bytes.size());
    if (const auto it = by_range_.find(range); it != by_range_.end()) {
      offset = it->second;
    } else {
      offset = (end_ + kAlignment - 1) / kAlignment * kAlignment;
      end_ = offset + bytes.size();
      parts_.emplace_back(offset, bytes);
      by_range_.emplace(range, offset);
    }
    by_key_.emplace(key, offset);
    return offset;
  }

  uint64_t size() const { return end_; }
  bool empty() const { return parts_.empty(); }

  Status write(const Path& path) const {
    PARITAS_ASSIGN(AtomicFile file, AtomicFile::create(path, true));
    std::vector<std::byte> buffer;
    for (const auto& [offset, bytes] : parts_) {
      PARITAS_TRY(file.write(std::string(offset - file.written(), '\0')));
      PARITAS_TRY(append_bytes(file, bytes, buffer));
    }
    return file.commit();
  }

 private:
  std::vector<std::pair<uint64_t, Bytes>> parts_;
  std::unordered_map<std::string, uint64_t> by_key_;
  std::unordered_map<std::string, uint64_t> by_range_;
  uint64_t end_ = 0;
};

Status write_model(const ::onnx::ModelProto& proto, const Path& path) {
  std::string text;
  if (proto.ByteSizeLong() > static_cast<size_t>(std::numeric_limits<int>::max()) || !proto.SerializeToString(&text))
    return input_error(path.string(), "the graph without its weights is over 2 GiB, more than protobuf can write");
  return write_text_atomically(path, text, true);
}

}  // namespace

Result<Model::Saved> Model::save(const Path& folder, const std::string& stem) const {
  const std::string weights_name = stem + ".weights";
  WeightsLayout layout;
  ::onnx::ModelProto out = *proto_;
  PARITAS_TRY(for_each_tensor(out, [&](::onnx::TensorProto& tensor) -> Status {
    const std::string* location = location_of(tensor);
    const auto it = location == nullptr ? weights_.end() : weights_.find(*location);
    if (it == weights_.end()) return {};
    const uint64_t offset = layout.place(it->first, it->second);
    const uint64_t length = it->second.size();
    set_location(tensor, weights_name);
    for (const auto& [key, value] : {std::pair("offset", offset), std::pair("length", length)}) {
      auto* entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(std::to_string(value));
    }
    return {};
  }));
  Saved saved;
  saved.model = folder / (stem + ".onnx");
  saved.weight_bytes = layout.size();
  if (!layout.empty()) PARITAS_TRY(layout.write(folder / weights_name));
  PARITAS_TRY(write_model(out, saved.model));
  return saved;
}

Result<Model::Saved> Model::save_whole(const Path& folder, const std::string& stem, uint64_t limit) const {
  ::onnx::ModelProto out = *proto_;
  auto weights_of = [&](const ::onnx::TensorProto& tensor) {
    const std::string* location = location_of(tensor);
    return location == nullptr ? weights_.end() : weights_.find(*location);
  };
  uint64_t bytes = 0;
  PARITAS_TRY(for_each_tensor(out, [&](::onnx::TensorProto& tensor) -> Status {
    if (const auto it = weights_of(tensor); it != weights_.end()) bytes += it->second.size();
    return {};
  }));
  if (bytes > limit) return save(folder, stem);
  const auto take_in = [&](::onnx::TensorProto& tensor) -> Status {
    const auto it = weights_of(tensor);
    if (it == weights_.end()) return {};
    std::string raw(it->second.size(), '\0');
    PARITAS_TRY(it->second.read(0, std::as_writable_bytes(std::span(raw))));
    tensor.clear_external_data();
    tensor.clear_data_location();
    tensor.set_raw_data(std::move(raw));
    return {};
  };
  PARITAS_TRY(for_each_tensor(out, take_in));
  Saved saved;
  saved.model = folder / (stem + ".onnx");
  PARITAS_TRY(write_model(out, saved.model));
  return saved;
}

}  // namespace paritas::onnx_model
