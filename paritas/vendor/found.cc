#include "paritas/vendor/found.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <simdjson.h>

#include "paritas/base/json.h"
#include "paritas/vendor/remedies.h"

namespace paritas {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 1'000'000;  // in one folder; a dump of every layer for many samples stays far below
constexpr int kMaxLevels = 32;
constexpr uint64_t kSpillFrom = uint64_t{4} << 20;  // bytes of a tensor; below, a descriptor costs more than the memory

class FoundStream : public SampleStream {
 public:
  FoundStream(std::string subject, RunInfo info, std::vector<FoundSample> samples)
      : subject_(std::move(subject)), info_(std::move(info)), samples_(std::move(samples)) {}

  const RunInfo& info() const override { return info_; }
  const std::string& subject() const override { return subject_; }
  uint64_t sample_count() const override { return samples_.size(); }

  Result<Sample> sample(uint64_t index) override {
    Sample sample{fmt::format("sample-{:06}", index), {}};
    for (const FoundTensor& found : samples_[index]) {
      PARITAS_ASSIGN(Tensor tensor, found.read());
      if (tensor.dtype != found.dtype || tensor.shape != found.shape)
        return input_error(subject_, fmt::format("tensor \"{}\" changed while it was read", found.name),
                           "do not write to it meanwhile");
      sample.tensors.emplace_back(found.name, std::move(tensor));
    }
    return sample;
  }

 private:
  std::string subject_;
  RunInfo info_;
  std::vector<FoundSample> samples_;
};

// Applies context.names; an entry that fits no tensor is left alone, since mapping files cover whole networks.
Status rename(std::vector<FoundSample>& samples, const ImportContext& context) {
  if (!context.options.names) return {};
  bool used = false;
  for (FoundSample& sample : samples)
    for (FoundTensor& found : sample) {
      const std::string& given = context.given(found.name);
      used |= &given != &found.name;
      found.name = std::string(given);
    }
  if (used) return {};
  return input_error(context.options.names->string(), "names no tensor of the dump",
                     "check that it belongs to this dump");
}

// The same bits under the declared type: only unsigned integers carry other types in silence (numpy stores bfloat16
// so).
Result<Tensor> reinterpret(Tensor tensor, DType dtype, const Shape& shape, const std::string& subject) {
  return make_tensor(dtype, shape, std::move(tensor.bytes), subject);
}

// Of a table by tensor: the entry for the given name, else the one for the name in the dump. That counts only while no
// other tensor was given it.
template <class T>
const std::pair<const std::string, T>* declared_for(const std::map<std::string, T>& table, const std::string& name,
                                                    const ImportContext& context) {
  if (auto it = table.find(context.given(name)); it != table.end()) return &*it;
  const auto it = table.find(name);
  if (it == table.end()) return nullptr;
  const bool taken = std::any_of(context.names.begin(), context.names.end(),
                                 [&](const auto& entry) { return entry.first != name && entry.second == name; });
  return taken ? nullptr : &*it;
}

// What is declared for a tensor that has type and shape already: an unsigned integer may carry another type.
Status declare(FoundTensor& found, const ImportContext& context, const std::string& subject) {
  const ImportOptions& options = context.options;
  const auto* typed = declared_for(options.dtypes, found.name, context);
  const auto* shaped = declared_for(options.shapes, found.name, context);
  const DType dtype = typed == nullptr ? found.dtype : typed->second;
  const Shape shape = shaped == nullptr ? found.shape : shaped->second;
  const auto refuse = [&](Unexpected error) -> Status {
    if (options.taken != nullptr) return {};  // it may be another source's
    return error;
  };
  const bool carrier = found.dtype == DType::kU8 || found.dtype == DType::kU16;
  if (dtype != found.dtype && (!carrier || bits(dtype) > bits(found.dtype)))
    return refuse(
        usage_error(declaration_subject(options, Declaration::kDtype, fmt::format("{}={}", typed->first, name(dtype))),
                    fmt::format("{} holds it as {}", subject, name(found.dtype)), "leave it out"));
  const auto count = element_count(shape);
  const auto held = element_count(found.shape);
  if (!count || !held || byte_size(dtype, *count) != byte_size(found.dtype, *held))
    return refuse(
        usage_error(declaration_subject(options, Declaration::kShape, shaped == nullptr ? found.name : shaped->first),
                    fmt::format("{} {} is not the size of {} {}", name(dtype), to_string(shape), name(found.dtype),
                                to_string(found.shape)),
                    bits(dtype) == 4 ? "give the shape of the unpacked values" : "check the shape"));
  if (options.taken != nullptr)
    for (const std::string* declared :
         {typed == nullptr ? nullptr : &typed->first, shaped == nullptr ? nullptr : &shaped->first})
      if (declared != nullptr) options.taken->tensors.insert(*declared);
  if (dtype == found.dtype && shape == found.shape) return {};
  found.read = [inner = std::move(found.read), dtype, shape, subject]() -> Result<Tensor> {
    PARITAS_ASSIGN(Tensor tensor, inner());
    return reinterpret(std::move(tensor), dtype, shape, subject);
  };
  found.dtype = dtype;
  found.shape = shape;
  return {};
}

// Every declaration must fit a tensor, by one of its names.
Status check_declared(const RunInfo& info, const std::set<std::string>& dump_names, const ImportOptions& options,
                      const std::string& subject) {
  if (options.taken != nullptr) return {};
  const auto unknown = [&](Declaration what, const std::string& tensor) -> Status {
    if (info.find(tensor) != nullptr || dump_names.count(tensor) != 0) return {};
    std::string names;
    for (size_t i = 0; i < info.tensors.size() && i < 8; ++i)
      names += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", info.tensors[i].name);
    return usage_error(declaration_subject(options, what, tensor),
                       fmt::format("{} holds no tensor of that name", subject),
                       fmt::format("it holds {}{}", names, info.tensors.size() > 8 ? ", ..." : ""));
  };
  for (const auto& [tensor, dtype] : options.dtypes) PARITAS_TRY(unknown(Declaration::kDtype, tensor));
  for (const auto& [tensor, shape] : options.shapes) PARITAS_TRY(unknown(Declaration::kShape, tensor));
  return {};
}

// One tensor must not be declared twice, by both of its names.
template <class T>
Status refuse_two(const std::map<std::string, T>& table, Declaration what, const ImportContext& context) {
  for (const auto& [dump_name, given] : context.names) {
    const auto a = table.find(dump_name), b = table.find(given);
    if (a == table.end() || b == table.end() || a->second == b->second || context.names.count(given) != 0) continue;
    return usage_error(declaration_subject(context.options, what, given),
                       fmt::format("\"{}\" is the same tensor, and declared otherwise", printable(dump_name)),
                       "declare it once, by either name");
  }
  return {};
}

Role role_of(const FoundTensor& found, const ImportContext& context) {
  if (found.role) return *found.role;
  const ModelTensor* known = context.known(found.name);
  return known == nullptr ? Role::kOutput : known->role;
}

// Which tensors were found in the model only by how vendor tools write names, and which could be several.
void note_matches(const std::set<std::string>& dump_names, const ImportContext& context, RunInfo& info) {
  uint64_t sanitised = 0;
  std::string example;
  for (const std::string& name : dump_names) {
    const ModelMatch match = context.match(name);
    if (match.tensor == nullptr && !match.candidates.empty())
      info.notes.push_back(fmt::format("\"{}\" may be \"{}\" or \"{}\"{} of the model: nothing was taken from it",
                                       printable(name), printable(match.candidates[0]), printable(match.candidates[1]),
                                       match.candidates.size() > 2 ? ", ..." : ""));
    if (match.tensor == nullptr || match.rule != NameRule::kSanitised || sanitised++ > 0) continue;
    example = fmt::format("\"{}\" is \"{}\"", printable(name), printable(match.tensor->name));
  }
  if (sanitised > 0)
    info.notes.push_back(
        fmt::format("{} {} found in the model by the rule that tools write / . : as _: {}{}; the names "
                    "stay the dump's",
                    sanitised, sanitised == 1 ? "tensor was" : "tensors were", example, sanitised == 1 ? "" : ", ..."));
}

// One entry per name, in order of first appearance. A name must mean the same type and role in every sample.
Status describe(const Found& found, const std::string& subject, RunInfo& info) {
  std::unordered_map<std::string, size_t> position;
  for (size_t number = 0; number < found.samples.size(); ++number) {
    std::unordered_set<std::string> seen;
    for (const FoundTensor& tensor : found.samples[number]) {
      if (!seen.insert(tensor.name).second)
        return input_error(subject, fmt::format("two tensors are called \"{}\"", tensor.name),
                           "give them different names");
      TensorInfo entry;
      entry.name = tensor.name;
      entry.dtype = tensor.dtype;
      entry.role = tensor.role.value_or(Role::kOutput);
      const auto [it, added] = position.emplace(tensor.name, info.tensors.size());
      if (added) {
        info.tensors.push_back(std::move(entry));
      } else if (const TensorInfo& first = info.tensors[it->second]; first.dtype != entry.dtype) {
        return input_error(subject,
                           fmt::format("tensor \"{}\" is {} in one sample and {} in sample {}", tensor.name,
                                       name(first.dtype), name(entry.dtype), number),
                           "import them separately");
      }
    }
  }
  return {};
}

}  // namespace

Result<std::map<std::string, std::string>> read_names(const Path& path) {
  PARITAS_ASSIGN(std::string text, read_text(path));
  PARITAS_ASSIGN(Json json, parse_json(text, path.string()));
  if (!json.is_object())
    return input_error(path.string(), "is not a JSON object", "write {\"name in the dump\": \"name to give\", ...}");
  std::map<std::string, std::string> names;
  for (const auto& [from, to] : json.items()) {
    if (!to.is_string())
      return input_error(path.string(), fmt::format("the name for \"{}\" is not a string", printable(from)),
                         "write {\"name in the dump\": \"name to give\", ...}");
    names[from] = to.get<std::string>();
  }
  return names;
}

const std::string& ImportContext::given(const std::string& name) const {
  auto it = names.find(name);
  // The "/" may have been restored from the model: people write the name of the file.
  if (it == names.end() && name.starts_with('/')) it = names.find(name.substr(1));
  return it == names.end() ? name : it->second;
}

ModelMatch ImportContext::match(const std::string& name) const {
  const std::string& renamed = given(name);
  if (&renamed != &name)
    if (ModelMatch match = model.match(renamed); match.tensor != nullptr) return match;
  return model.match(name);
}

std::optional<DType> ImportContext::dtype(const std::string& name) const {
  const auto* entry = declared_for(options.dtypes, name, *this);
  return entry == nullptr ? std::nullopt : std::optional(entry->second);
}

std::optional<Shape> ImportContext::shape(const std::string& name) const {
  const auto* entry = declared_for(options.shapes, name, *this);
  return entry == nullptr ? std::nullopt : std::optional(entry->second);
}

Result<std::unique_ptr<SampleStream>> make_stream(const Path& path, Found found, const ImportContext& context) {
  const ImportOptions& options = context.options;
  const std::string subject = path.string();
  PARITAS_TRY(refuse_two(options.dtypes, Declaration::kDtype, context));
  PARITAS_TRY(refuse_two(options.shapes, Declaration::kShape, context));
  std::set<std::string> dump_names;
  for (FoundSample& sample : found.samples) {
    for (FoundTensor& tensor : sample) tensor.role = role_of(tensor, context);
    if (options.outputs_only) std::erase_if(sample, [](const FoundTensor& t) { return t.role == Role::kInput; });
    for (FoundTensor& tensor : sample) {
      PARITAS_TRY(check_name(tensor.name, subject));
      PARITAS_TRY(declare(tensor, context, subject));
      dump_names.insert(tensor.name);
    }
  }
  if (dump_names.empty()) return input_error(subject, "holds no tensor", "check the path");
  PARITAS_TRY(rename(found.samples, context));
  for (const FoundSample& sample : found.samples)
    for (const FoundTensor& tensor : sample) PARITAS_TRY(check_name(tensor.name, subject));
  RunInfo info;
  PARITAS_TRY(describe(found, subject, info));
  PARITAS_TRY(check_declared(info, dump_names, options, subject));
  info.model_path = context.model.path();
  info.model_sha256 = context.model.sha256();
  info.ir_version = context.model.ir_version();
  info.opsets = context.model.opsets();
  info.producer = context.model.producer();
  info.notes.push_back(fmt::format("imported from {} ({})", printable(subject), found.format));
  for (std::string& note : found.notes) info.notes.push_back(std::move(note));
  note_matches(dump_names, context, info);
  if (found.sample_names.size() > 1)
    info.sample_names = std::move(found.sample_names);  // one has nothing to be told from
  return std::unique_ptr<SampleStream>(
      std::make_unique<FoundStream>(subject, std::move(info), std::move(found.samples)));
}

std::string printable(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const auto part = text.substr(at, length);
    if (lead >= 0x20 && lead != 0x7f && part.size() == length && simdjson::validate_utf8(part.data(), part.size())) {
      result += part;
      at += length;
    } else {
      result += fmt::format("\\x{:02x}", lead);
      ++at;
    }
  }
  return result;
}

Status check_name(std::string_view name, const std::string& subject) {
  if (name.empty()) return input_error(printable(subject), "a tensor has an empty name", "give it a name");
  if (name.size() > 65535)
    return input_error(printable(subject), fmt::format("a tensor's name has {} bytes", name.size()), "shorten it");
  if (!simdjson::validate_utf8(name.data(), name.size()))
    return input_error(printable(subject), fmt::format("the name \"{}\" is not UTF-8", printable(name)), "rename it");
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return input_error(printable(subject), fmt::format("the name \"{}\" holds a control character", printable(name)),
                         "rename it");
  return {};
}

bool natural_less(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i;
      ++j;
      continue;
    }
    while (i < a.size() && a[i] == '0') ++i;
    while (j < b.size() && b[j] == '0') ++j;
    size_t a_end = i;
    size_t b_end = j;
    while (a_end < a.size() && digit(a[a_end])) ++a_end;
    while (b_end < b.size() && digit(b[b_end])) ++b_end;
    if (a_end - i != b_end - j) return a_end - i < b_end - j;
    if (const int order = a.compare(i, a_end - i, b, j, b_end - j); order != 0) return order < 0;
    i = a_end;
    j = b_end;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;  // equal but for zeros in front
}

Result<std::vector<std::string>> list_files(const Path& folder) {
  std::vector<std::string> names;
  std::set<std::pair<dev_t, ino_t>> seen;
  std::error_code code;
  fs::recursive_directory_iterator it(folder, code);
  if (code) return input_error(folder.string(), fmt::format("cannot be listed: {}", code.message()));
  for (const fs::recursive_directory_iterator end; it != end;) {
    const std::string relative = it->path().lexically_relative(folder).string();
    if (!simdjson::validate_utf8(relative.data(), relative.size()))
      return input_error(folder.string(), fmt::format("the name \"{}\" is not UTF-8", printable(relative)),
                         "rename the file");
    PARITAS_ASSIGN(const Path full, resolve_inside(folder, relative));
    struct stat info {};
    if (::stat(full.c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
      if (!seen.emplace(info.st_dev, info.st_ino).second)
        return input_error(folder.string(),
                           fmt::format("\"{}\" is another name of a file that is there already", relative),
                           "two tensors cannot share one file: remove the link");
      names.push_back(relative);
    } else if (it->is_symlink(code)) {
      return input_error(folder.string(), fmt::format("\"{}\" is a link to a folder", relative),
                         "copy the folder itself");
    }
    if (names.size() > kMaxFiles || it.depth() >= kMaxLevels)
      return input_error(folder.string(), fmt::format("holds more than {} files or {} levels", kMaxFiles, kMaxLevels),
                         "point at the folder of the dump itself");
    it.increment(code);
    if (code) return input_error(folder.string(), fmt::format("cannot be listed: {}", code.message()));
  }
  std::sort(names.begin(), names.end(), natural_less);
  return names;
}

Result<Bytes> keep_decoded(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                           const ImportOptions& options) {
  if (!options.scratch || bytes.size() < kSpillFrom) return Bytes::borrowed(bytes, std::move(owner));
  std::string name = (*options.scratch / "decoded-XXXXXX").string();
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0)
    return input_error(options.scratch->string(), fmt::format("cannot be written: {}", errno_text(errno)));
  Status written;
  for (size_t at = 0; at < bytes.size() && written;) {
    const ssize_t put = ::write(descriptor, bytes.data() + at, bytes.size() - at);
    if (put < 0 && errno != EINTR)
      written = input_error(options.scratch->string(), fmt::format("cannot be written: {}", errno_text(errno)),
                            "free some space or choose another folder");
    if (put > 0) at += static_cast<size_t>(put);
  }
  ::close(descriptor);
  auto file = File::open(name);
  ::unlink(name.c_str());  // the open file keeps the bytes
  PARITAS_TRY(written);
  PARITAS_TRY(file);
  return Bytes::in_file(std::move(*file), 0, bytes.size());
}

}  // namespace paritas
