#include "paritas/vendor/qnn_cycles.h"

#include <charconv>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace paritas {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 30;
constexpr uint64_t kMaxCycles = uint64_t{1} << 60;  // of one row: sums of many must fit
constexpr std::string_view kUnit = " (cycles)";
constexpr std::string_view kOpId = ":OpId_";
constexpr const char* kRemedy = "give the CSV that the QNN provider wrote (profiling_level=detailed)";

// Rows of a CSV text, one by one.
class CsvRows {
 public:
  CsvRows(std::string_view text, const std::string& subject) : text_(text), subject_(subject) {}

  bool at_end() const { return at_ >= text_.size(); }
  size_t line() const { return line_; }  // of the row that next() gave

  Result<std::vector<std::string>> next() {
    line_ = next_line_;
    std::vector<std::string> fields(1);
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' && fields.back().empty()) {
        PARITAS_ASSIGN(fields.back(), quoted());
        if (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n' && text_[at_] != '\r')
          return input_error(subject_, fmt::format("line {}: text behind a closing quote", line_), kRemedy);
        continue;
      }
      ++at_;
      if (c == ',') {
        fields.emplace_back();
      } else if (c == '\n') {
        ++next_line_;
        break;
      } else if (c != '\r' || at_ >= text_.size() || text_[at_] != '\n') {
        fields.back() += c;
      }
    }
    return fields;
  }

 private:
  Result<std::string> quoted() {
    std::string field;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') ++next_line_;
      if (text_[at_] != '"') {
        field += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        field += text_[at_++];
      } else {
        ++at_;
        return field;
      }
    }
    return input_error(subject_, fmt::format("line {}: a quote is not closed", line_),
                       "the file is cut off or damaged");
  }

  std::string_view text_;
  const std::string& subject_;
  size_t at_ = 0, line_ = 1, next_line_ = 1;
};

struct Columns {
  size_t count = 0, message = 0, time = 0, unit = 0, level = 0, event = 0;
  std::optional<size_t> sources;
};

Result<Columns> find_columns(const std::vector<std::string>& header, const std::string& subject) {
  Columns columns;
  columns.count = header.size();
  auto find = [&](const char* name) -> std::optional<size_t> {
    for (size_t i = 0; i < header.size(); ++i)
      if (header[i] == name) return i;
    return std::nullopt;
  };
  for (const auto& [name, slot] :
       {std::pair("Message", &columns.message), std::pair("Time", &columns.time),
        std::pair("Unit of Measurement", &columns.unit), std::pair("Event Level", &columns.level),
        std::pair("Event Identifier", &columns.event)}) {
    const auto at = find(name);
    if (!at) return input_error(subject, fmt::format("has no column \"{}\" in its first line", name), kRemedy);
    *slot = *at;
  }
  columns.sources = find("ONNX Source Ops");
  return columns;
}

// "/post/Mul_2:OpId_1806 (cycles)" -> "/post/Mul_2"; "OpId_27 (cycles)", "Input OpId_2 (cycles)" -> "".
std::string op_name(std::string_view event) {
  if (event.ends_with(kUnit)) event.remove_suffix(kUnit.size());
  const auto at = event.rfind(kOpId);
  return at == std::string_view::npos ? std::string() : std::string(event.substr(0, at));
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto at = text.find(';');
    parts.emplace_back(text.substr(0, at));
    text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  }
  return parts;
}

class Collector {
 public:
  explicit Collector(const std::string& subject) : subject_(subject) {}

  Status take(const std::vector<std::string>& row, const Columns& columns, size_t line) {
    const bool node = row[columns.message] == "NODE";
    const bool root = row[columns.level] == "ROOT";
    if (root && row[columns.message] == "EXECUTE") ++found_.executions;
    if (row[columns.unit] != "CYCLES" || (!node && !root)) return {};
    PARITAS_ASSIGN(const uint64_t cycles, count(row[columns.time], line));
    if (!node) {
      return add(found_.accelerator_cycles, cycles, line);
    }
    const std::string name = op_name(row[columns.event]);
    if (name.empty()) return add(found_.other_cycles, cycles, line);
    const std::string sources = columns.sources ? row[*columns.sources] : std::string();
    const auto [place, added] = where_.emplace(std::pair(name, sources), found_.ops.size());
    if (added) found_.ops.push_back({name, split(sources), 0, 0});
    DeviceCycles& op = found_.ops[place->second];
    ++op.calls;
    return add(op.cycles, cycles, line);
  }

  Result<QnnCycles> finish() {
    if (found_.ops.empty())
      return input_error(subject_, "names no device operation",
                         "profile with profiling_level=detailed and run the model at least once");
    return std::move(found_);
  }

 private:
  Result<uint64_t> count(const std::string& text, size_t line) const {
    uint64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size() || value > kMaxCycles)
      return input_error(subject_, fmt::format("line {}: \"{}\" is no number of cycles", line, text.substr(0, 40)),
                         kRemedy);
    return value;
  }

  Status add(uint64_t& sum, uint64_t value, size_t line) const {
    if (__builtin_add_overflow(sum, value, &sum))
      return input_error(subject_, fmt::format("line {}: the cycles add up to more than 64 bits hold", line), kRemedy);
    return {};
  }

  const std::string& subject_;
  QnnCycles found_;
  std::map<std::pair<std::string, std::string>, size_t> where_;
};

}  // namespace

uint64_t QnnCycles::op_cycles() const {
  uint64_t sum = 0;
  for (const DeviceCycles& op : ops) sum += op.cycles;
  return sum;
}

Result<QnnCycles> parse_qnn_cycles(std::string_view text, const std::string& subject) {
  if (text.empty()) return input_error(subject, "is empty", kRemedy);
  CsvRows rows(text, subject);
  PARITAS_ASSIGN(const auto header, rows.next());
  PARITAS_ASSIGN(const Columns columns, find_columns(header, subject));
  Collector collector(subject);
  while (!rows.at_end()) {
    PARITAS_ASSIGN(const auto row, rows.next());
    if (row.size() == 1 && row.front().empty()) continue;
    if (row.size() != columns.count)
      return input_error(
          subject, fmt::format("line {} has {} fields, the first line {}", rows.line(), row.size(), columns.count),
          "the file is cut off or damaged");
    PARITAS_TRY(collector.take(row, columns, rows.line()));
  }
  return collector.finish();
}

Result<QnnCycles> read_qnn_cycles(const Path& path) {
  PARITAS_ASSIGN(const std::string text, read_text(path, kMaxBytes));
  return parse_qnn_cycles(text, path.string());
}

}  // namespace paritas
