#include "paritas/vendor/benchmark_model.h"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "paritas/vendor/found.h"

namespace paritas {
namespace {

constexpr uint64_t kMostBytes = uint64_t{64} << 20;
constexpr const char* kAgain = "write it again: benchmark_model --enable_op_profiling=true";

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view line, std::string_view separator) {
  std::vector<std::string_view> fields;
  for (;;) {
    const size_t at = line.find(separator);
    fields.push_back(line.substr(0, at));
    if (at == std::string_view::npos) return fields;
    line.remove_prefix(at + separator.size());
  }
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  text = trim(text);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The number in front of `words`, as in "31 nodes observed".
std::optional<uint64_t> counted(std::string_view line, std::string_view words) {
  if (!line.ends_with(words)) return std::nullopt;
  return number<uint64_t>(line.substr(0, line.size() - words.size()));
}

enum class Part { kPrimary, kSubgraph, kDelegate };

struct Table {
  Part part = Part::kPrimary;
  std::vector<ProfiledOp> rows;
  std::optional<uint64_t> observed;  // rows that there were
  uint64_t runs = 0;
};

// Where the columns stand; the name is the last.
struct Columns {
  bool commas = false;
  size_t count = 0, type = 0, first = 0, average = 0, calls = 0;
};

class ProfileReader {
 public:
  explicit ProfileReader(const std::string& subject) : subject_(subject) {}

  Result<OpProfile> read(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      ++line_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      PARITAS_TRY(take(line));
    }
    return conclude();
  }

 private:
  Unexpected error(std::string cause) const {
    return input_error(fmt::format("{}: line {}", subject_, line_), std::move(cause), kAgain);
  }

  Status take(std::string_view line) {
    if (in_header_) {
      in_header_ = false;
      PARITAS_TRY(take_header(line));
      in_rows_ = true;
      return {};
    }
    const std::string_view words = trim(line);
    if (words.empty()) {
      in_rows_ = false;
      return {};
    }
    if (words.starts_with("=====")) return take_title(words);
    if (in_rows_) return take_row(line);
    take_other(words);
    return {};
  }

  // What stands between tables.
  void take_other(std::string_view words) {
    // The times of setting up come first, in tables of their own.
    if (words.starts_with("Profiling Info for Benchmark Initialization")) start_phase(true);
    if (words.starts_with("Operator-wise Profiling Info for Regular Benchmark Runs")) start_phase(false);
    if (words.starts_with("Primary graph profile")) part_ = Part::kPrimary;
    if (words.starts_with("Delegate internal")) part_ = Part::kDelegate;
    if (words.starts_with("Subgraph (index: ") && words.ends_with("profile:")) part_ = Part::kSubgraph;
    if (tables_.empty() || tables_.back().observed) return;
    if (const auto rows = counted(words, " nodes observed")) tables_.back().observed = rows;
    constexpr std::string_view kCount = "count=";
    const size_t at = words.find(kCount);
    if (words.find("Timings (microseconds):") == std::string_view::npos || at == std::string_view::npos) return;
    const std::string_view rest = words.substr(at + kCount.size());
    tables_.back().runs = number<uint64_t>(rest.substr(0, rest.find(' '))).value_or(0);
  }

  void start_phase(bool setting_up) {
    setting_up_ = setting_up;
    part_ = Part::kPrimary;
  }

  Status take_title(std::string_view words) {
    in_rows_ = false;
    if (words.find(" Run Order ") == std::string_view::npos || setting_up_) return {};
    in_header_ = true;
    tables_.emplace_back().part = part_;
    return {};
  }

  Status take_header(std::string_view line) {
    columns_ = {};
    columns_.commas = line.find('\t') == std::string_view::npos;
    const auto fields = split(line, columns_.commas ? "," : "\t");
    std::set<std::string> found;
    // Lines of the table for people begin with a tabulator; a title stands in brackets.
    for (size_t i = 0; i < fields.size(); ++i) {
      std::string title;
      for (const char c : trim(fields[i]))
        if (c != '[' && c != ']') title += c == '_' ? ' ' : static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
      const std::pair<const char*, size_t*> wanted[] = {{"node type", &columns_.type},
                                                        {"first", &columns_.first},
                                                        {"avg ms", &columns_.average},
                                                        {"times called", &columns_.calls}};
      for (const auto& [name, place] : wanted)
        if (title == name && found.insert(title).second) *place = i;
      if (title == "name") columns_.count = i + 1;
    }
    if (found.size() < 4 || columns_.count != fields.size())
      return error("the columns of the table are not node type, first, avg ms, times called and, as the last, name");
    return {};
  }

  Status take_row(std::string_view line) {
    auto fields = split(line, columns_.commas ? ", " : "\t");
    if (fields.size() < columns_.count)
      return error(fmt::format("has {} columns, the table has {}", fields.size(), columns_.count));
    // A description of the operator may hold the separator; names do not, except in the table for people.
    const size_t more = fields.size() - columns_.count;
    const size_t shift = columns_.commas ? more : 0;
    ProfiledOp op;
    if (columns_.type != 0 && columns_.commas) return error("the type is not the first column");
    op.type = std::string(trim(joined(fields, columns_.type, shift + 1)));
    std::string name(joined(fields, columns_.count - 1 + shift, more - shift + 1));
    // Commas of names are written as tabulators in CSV.
    if (columns_.commas) std::replace(name.begin(), name.end(), '\t', ',');
    name = std::string(trim(name));
    const auto calls = number<uint64_t>(fields[columns_.calls + shift]);
    const auto first = number<double>(fields[columns_.first + shift]);
    const auto average = number<double>(fields[columns_.average + shift]);
    if (op.type.empty() || name.empty() || !calls || !first || !average)
      return error("is no row of the table: a type, times, calls and a name are expected");
    op.calls = *calls;
    op.first_ms = *first;
    op.average_ms = *average;
    take_node(name, op);
    place(std::move(op));
    return {};
  }

  // The text of `count` fields from `at`; they lie one behind the other.
  static std::string_view joined(const std::vector<std::string_view>& fields, size_t at, size_t count) {
    const char* begin = fields[at].data();
    const std::string_view last = fields[at + count - 1];
    return {begin, static_cast<size_t>(last.data() + last.size() - begin)};
  }

  // "[scores]:17"; what is no node carries the number of a graph behind a slash.
  static void take_node(const std::string& name, ProfiledOp& op) {
    const size_t colon = name.rfind(':');
    op.name = name;
    if (colon == std::string::npos || colon == 0) return;
    const auto index = number<int>(std::string_view(name).substr(colon + 1));
    if (!index || *index < 0) return;
    op.name = name.substr(0, colon);
    op.node = *index;
  }

  void place(ProfiledOp op) {
    // Older versions mix what happens inside of delegates into the table of the graph.
    constexpr std::string_view kInside = "Delegate/";
    Table& table = tables_.back();
    if (table.part == Part::kPrimary && op.type == "DelegateOpInvoke" && op.name.starts_with(kInside)) {
      op.name = op.name.substr(kInside.size());
      ++moved_;
      moved_rows_.push_back(std::move(op));
      return;
    }
    table.rows.push_back(std::move(op));
  }

  Result<OpProfile> conclude() {
    OpProfile profile;
    const Table* primary = nullptr;
    for (const Table& table : tables_) {
      if (table.part == Part::kSubgraph) ++profile.subgraphs;
      if (table.part == Part::kDelegate)
        profile.in_delegates.insert(profile.in_delegates.end(), table.rows.begin(), table.rows.end());
      if (table.part != Part::kPrimary) continue;
      if (primary != nullptr)
        return input_error(subject_, "holds the tables of several benchmarks", "give one file for each");
      primary = &table;
    }
    if (primary == nullptr) return input_error(subject_, "holds no operator profile", kAgain);
    const uint64_t rows = primary->rows.size() + moved_;
    if (primary->observed.value_or(0) != rows)
      return input_error(subject_,
                         primary->observed
                             ? fmt::format("has {} rows, it says that there were {}", rows, *primary->observed)
                             : "ends before it says how many nodes there were: it is not whole",
                         kAgain);
    profile.ops = primary->rows;
    profile.runs = primary->runs;
    profile.in_delegates.insert(profile.in_delegates.end(), moved_rows_.begin(), moved_rows_.end());
    std::set<int> nodes;
    for (const ProfiledOp& op : profile.ops)
      if (op.node && !nodes.insert(*op.node).second)
        return input_error(subject_, fmt::format("lists the node {} twice", *op.node), kAgain);
    if (nodes.empty())
      return input_error(subject_, "numbers no node: it is of a version that this reader does not know", kAgain);
    return profile;
  }

  const std::string& subject_;
  uint64_t line_ = 0;
  bool in_header_ = false, in_rows_ = false, setting_up_ = false;
  Part part_ = Part::kPrimary;
  Columns columns_;
  std::vector<Table> tables_;
  uint64_t moved_ = 0;
  std::vector<ProfiledOp> moved_rows_;
};

}  // namespace

Result<OpProfile> parse_op_profile(std::string_view text, const std::string& subject) {
  return ProfileReader(subject).read(text);
}

Result<OpProfile> read_op_profile(const Path& path) {
  PARITAS_ASSIGN(const std::string text, read_text(path, kMostBytes));
  return parse_op_profile(text, path.string());
}

}  // namespace paritas
