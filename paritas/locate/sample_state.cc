#include "paritas/locate/sample_state.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "paritas/base/sha256.h"

namespace paritas {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndex = "state.json";
constexpr const char* kSchema = "paritas.locate-state/1";
constexpr const char* kSampleSchema = "paritas.locate-state-sample/1";

std::string hash_of(const Json& json) {
  const std::string text = dump_json(json, -1);
  return sha256_hex(std::as_bytes(std::span(text)));
}

// What a killed process left before the index was there is no reason to refuse.
bool holds_something(const Path& folder) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code))
    if (!entry.path().filename().string().starts_with(std::string(".") + kIndex + ".")) return true;
  return static_cast<bool>(code);
}

Status check_subject(const Path& index, const Json& stored, const Json& subject) {
  if (!stored.is_object() || !stored.contains("schema") || stored["schema"] != kSchema || !stored.contains("subject") ||
      !stored["subject"].is_object())
    return input_error(index.string(), "is no state of locate", "choose another folder for --resume");
  const Json& other = stored["subject"];
  std::vector<std::string> differing;
  for (const auto& [key, value] : subject.items())
    if (!other.contains(key) || other[key] != value) differing.push_back(key);
  for (const auto& [key, value] : other.items())
    if (!subject.contains(key)) differing.push_back(key);
  if (differing.empty()) return {};
  std::string list;
  for (const auto& key : differing) list += (list.empty() ? "" : ", ") + key;
  return input_error(
      index.parent_path().string(),
      fmt::format("is the state of another diagnosis (different: {}): its samples cannot be taken over", list),
      "choose another folder for --resume, or run what the state is of");
}

}  // namespace

Result<SampleState> SampleState::open(const Path& folder, const Json& subject) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) return input_error(folder.string(), fmt::format("cannot be created: {}", code.message()));
  const int lock = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0) return input_error(folder.string(), fmt::format("cannot be opened: {}", errno_text(errno)));
  SampleState state(folder, hash_of(subject), lock);  // closes the lock whatever happens
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0)
    return input_error(folder.string(), "is in use by another run", "wait for it, or choose another folder");
  const Path index = folder / kIndex;
  if (!fs::exists(index, code)) {
    if (holds_something(folder))
      return input_error(folder.string(), "holds files, but no state of locate", "choose another folder for --resume");
    PARITAS_TRY(write_text_atomically(index, dump_json(Json{{"schema", kSchema}, {"subject", subject}}) + "\n", false));
    return state;
  }
  PARITAS_ASSIGN(const std::string text, read_text(index));
  PARITAS_ASSIGN(const Json stored, parse_json(text, index.string()));
  PARITAS_TRY(check_subject(index, stored, subject));
  return state;
}

SampleState::SampleState(SampleState&& other) noexcept
    : folder_(std::move(other.folder_)),
      subject_sha256_(std::move(other.subject_sha256_)),
      lock_(std::exchange(other.lock_, -1)) {}

SampleState::~SampleState() {
  if (lock_ >= 0) ::close(lock_);
}

Result<std::optional<Json>> SampleState::read(const std::string& id, const std::string& inputs_sha256) const {
  const Path file = file_of(id);
  std::error_code code;
  if (!fs::exists(file, code)) return std::nullopt;
  PARITAS_ASSIGN(const std::string text, read_text(file, uint64_t{256} << 20));
  PARITAS_ASSIGN(Json json, parse_json(text, file.string()));
  PARITAS_ASSIGN(const std::string schema, json_string(json, "schema", file.string()));
  PARITAS_ASSIGN(const std::string subject, json_string(json, "subject_sha256", file.string()));
  PARITAS_ASSIGN(const std::string inputs, json_string(json, "inputs_sha256", file.string()));
  PARITAS_ASSIGN(const std::string content, json_string(json, "record_sha256", file.string()));
  PARITAS_ASSIGN(const Json* record, json_object(json, "record", file.string()));
  if (schema != kSampleSchema || content != hash_of(*record))
    return input_error(file.string(), "is damaged: its content does not fit its hash", "delete it to run it again");
  if (subject != subject_sha256_)
    return input_error(file.string(), "belongs to the state of another diagnosis", "delete it to run it again");
  if (inputs != inputs_sha256)
    return input_error(file.string(), fmt::format("was made from other inputs than {} has now", id),
                       "choose another folder for --resume, or give the inputs that the state is of");
  return Json(*record);
}

Result<bool> SampleState::has(const std::string& id, const std::string& inputs_sha256) const {
  PARITAS_ASSIGN(const auto json, read(id, inputs_sha256));
  return json.has_value();
}

Result<std::optional<SampleRecord>> SampleState::load(const std::string& id, const std::string& inputs_sha256) const {
  PARITAS_ASSIGN(const auto json, read(id, inputs_sha256));
  if (!json) return std::nullopt;
  PARITAS_ASSIGN(SampleRecord record, sample_record_from_json(*json, file_of(id).string()));
  if (record.id != id)
    return input_error(file_of(id).string(), fmt::format("is of {}", record.id), "delete it to run it again");
  return std::optional(std::move(record));
}

Status SampleState::store(const SampleRecord& record, const std::string& inputs_sha256) const {
  return store_json(record.id, to_json(record), inputs_sha256);
}

Status SampleState::store_json(const std::string& id, const Json& record, const std::string& inputs_sha256) const {
  const Json file = {{"schema", kSampleSchema},
                     {"subject_sha256", subject_sha256_},
                     {"inputs_sha256", inputs_sha256},
                     {"record_sha256", hash_of(record)},
                     {"record", record}};
  return write_text_atomically(file_of(id), dump_json(file, -1) + "\n", true);
}

}  // namespace paritas
