#include "paritas/ledger/ledger.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace paritas {
namespace {

constexpr const char* kSchema = "paritas.ledger/1";
constexpr uint64_t kMostBytes = uint64_t{256} << 20;
// Lines that are longer are not ours, and a file of such would flood the list of what is damaged.
constexpr size_t kMostOfLine = size_t{1} << 20;
constexpr size_t kMostDamaged = 1000;

struct Descriptor {
  int number = -1;
  explicit Descriptor(int opened) : number(opened) {}
  Descriptor(Descriptor&& other) noexcept : number(std::exchange(other.number, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

Result<std::map<std::string, std::string>> texts_by_name(const Json& json, const char* key) {
  PARITAS_ASSIGN(const Json* object, json_object(json, key, "entry"));
  std::map<std::string, std::string> read;
  for (const auto& [name, value] : object->items()) {
    if (!value.is_string()) return input_error("entry", fmt::format("\"{}\" holds something that is no text", key));
    read[name] = value.get<std::string>();
  }
  return read;
}

Result<LedgerEntry> read_entry(std::string_view line) {
  PARITAS_ASSIGN(const Json json, parse_json(line, "entry"));
  if (!json.is_object()) return input_error("entry", "it is no object");
  PARITAS_ASSIGN(const std::string schema, json_string(json, "schema", "entry"));
  if (schema != kSchema) return input_error("entry", fmt::format("its schema is \"{}\"", schema.substr(0, 60)));
  LedgerEntry e;
  const std::pair<const char*, std::string*> fields[] = {{"kind", &e.kind},
                                                         {"date", &e.date},
                                                         {"tool_version", &e.tool_version},
                                                         {"model", &e.model},
                                                         {"model_sha256", &e.model_sha256},
                                                         {"reference", &e.reference},
                                                         {"device", &e.device},
                                                         {"inputs_sha256", &e.inputs_sha256},
                                                         {"change", &e.change},
                                                         {"verdict", &e.verdict},
                                                         {"outcome", &e.outcome},
                                                         {"delivered", &e.delivered},
                                                         {"result", &e.result},
                                                         {"result_sha256", &e.result_sha256}};
  for (const auto& [key, text] : fields) {
    PARITAS_ASSIGN(*text, json_string(json, key, "entry"));
  }
  PARITAS_ASSIGN(e.options, texts_by_name(json, "options"));
  PARITAS_ASSIGN(const Json* gates, json_array(json, "gates", "entry"));
  for (const Json& gate : *gates) {
    if (!gate.is_string()) return input_error("entry", "\"gates\" holds something that is no text");
    e.gates.push_back(gate.get<std::string>());
  }
  PARITAS_ASSIGN(const Json* figures, json_object(json, "figures", "entry"));
  for (const auto& [name, value] : figures->items()) {
    const auto number = number_from_json(value);
    if (!number) return input_error("entry", "\"figures\" holds something that is no number");
    e.figures[name] = *number;
  }
  if (e.kind.empty() || e.model_sha256.empty() || e.date.empty())
    return input_error("entry", "kind, date or model_sha256 is empty");
  return e;
}

Status write_all(int descriptor, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t part = ::write(descriptor, text.data() + done, text.size() - done);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return input_error("", errno_text(part == 0 ? ENOSPC : errno));
    done += static_cast<size_t>(part);
  }
  return {};
}

}  // namespace

Json to_json(const LedgerEntry& e) {
  Json figures = Json::object();
  for (const auto& [name, value] : e.figures) figures[name] = json_number(value);
  return {{"schema", kSchema},
          {"kind", e.kind},
          {"date", e.date},
          {"tool_version", e.tool_version},
          {"model", e.model},
          {"model_sha256", e.model_sha256},
          {"reference", e.reference},
          {"device", e.device},
          {"options", Json(e.options)},
          {"gates", e.gates},
          {"inputs_sha256", e.inputs_sha256},
          {"change", e.change},
          {"verdict", e.verdict},
          {"outcome", e.outcome},
          {"figures", figures},
          {"delivered", e.delivered},
          {"result", e.result},
          {"result_sha256", e.result_sha256}};
}

Ledger parse_ledger(std::string_view text) {
  Ledger ledger;
  uint64_t number = 0, more = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty()) continue;
    auto entry = line.size() > kMostOfLine ? Result<LedgerEntry>(input_error("entry", "it is longer than 1 MiB"))
                                           : read_entry(line);
    if (entry)
      ledger.entries.push_back(std::move(*entry));
    else if (ledger.damaged.size() < kMostDamaged)
      ledger.damaged.push_back(fmt::format("line {}: {}", number, entry.error().cause));
    else
      ++more;
  }
  if (more > 0) ledger.damaged.push_back(fmt::format("and {} further lines", more));
  return ledger;
}

Result<Ledger> load_ledger(const Path& file) {
  PARITAS_ASSIGN(const std::string text, read_text(file, kMostBytes));
  return parse_ledger(text);
}

namespace {

// The file's first line must look like an entry: a misspelt name must not spoil a model or a result. Damaged lines
// further down are none of our business.
bool begins_like_a_ledger(int descriptor) {
  std::string start(size_t{1} << 16, '\0');
  const ssize_t got = ::pread(descriptor, start.data(), start.size(), 0);
  if (got <= 0) return false;
  start.resize(static_cast<size_t>(got));
  const std::string first = start.substr(0, start.find('\n'));
  const std::string wanted = fmt::format("{{\"schema\":\"{}\"", kSchema);
  return first.starts_with(wanted) || wanted.starts_with(first);  // a run that was killed may have left half a line
}

Unexpected not_added_to(const Path& file, const std::string& cause) {
  return input_error(file.string(), "the ledger cannot be added to: " + cause,
                     "name another with --ledger, or leave it away with --no-ledger");
}

Result<Descriptor> open_ledger(const Path& file, int create) {
  Descriptor ledger(::open(file.c_str(), O_RDWR | O_APPEND | create | O_CLOEXEC | O_NONBLOCK, 0644));
  if (ledger.number < 0) return not_added_to(file, errno_text(errno));
  struct stat status {};
  if (::fstat(ledger.number, &status) != 0) return not_added_to(file, errno_text(errno));
  if (!S_ISREG(status.st_mode)) return not_added_to(file, "it is no regular file");
  return ledger;
}

}  // namespace

Status check_ledger_file(const Path& file) {
  if (::access(file.c_str(), F_OK) != 0 && errno == ENOENT) {
    const Path folder = file.has_parent_path() ? file.parent_path() : Path(".");
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
      return not_added_to(file, fmt::format("in its folder, {}", errno_text(errno)));
    return {};
  }
  PARITAS_ASSIGN(const Descriptor ledger, open_ledger(file, 0));
  struct stat status {};
  if (::fstat(ledger.number, &status) != 0) return not_added_to(file, errno_text(errno));
  if (status.st_size > 0 && !begins_like_a_ledger(ledger.number))
    return not_added_to(file, "it is something else than a ledger");
  return {};
}

Status append_to_ledger(const Path& file, const std::vector<LedgerEntry>& entries) {
  if (entries.empty()) return {};
  const auto failed = [&](const std::string& cause) { return not_added_to(file, cause); };
  PARITAS_ASSIGN(const Descriptor ledger, open_ledger(file, O_CREAT));
  struct stat status {};
  while (::flock(ledger.number, LOCK_EX) != 0)
    if (errno != EINTR) return failed(errno_text(errno));
  if (::fstat(ledger.number, &status) != 0) return failed(errno_text(errno));
  if (status.st_size > 0 && !begins_like_a_ledger(ledger.number)) return failed("it is something else than a ledger");
  std::string text;
  char last = '\n';
  if (status.st_size > 0 && ::pread(ledger.number, &last, 1, status.st_size - 1) == 1 && last != '\n') text = "\n";
  for (const LedgerEntry& entry : entries) text += dump_json(to_json(entry), -1) + "\n";
  auto written = write_all(ledger.number, text);
  if (written) return {};
  // Half a line helps nobody; what was there before is not touched.
  const int undone = ::ftruncate(ledger.number, status.st_size);
  return failed(written.error().cause + (undone == 0 ? "" : " (half a line was left)"));
}

}  // namespace paritas
