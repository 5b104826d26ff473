#include "paritas/delivery/bench_history.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paritas {
namespace {

constexpr uint64_t kMostBytes = uint64_t{256} << 20;
constexpr size_t kMostDamaged = 1000;

// A field in quotes where it must be; line ends within one become spaces, so that a line of the file is a line of the
// history.
std::string quoted(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::optional<std::vector<std::string>> split_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool inside = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (inside) {
      if (c != '"')
        fields.back() += c;
      else if (i + 1 < line.size() && line[i + 1] == '"')
        fields.back() += line[++i];
      else
        inside = false;
    } else if (c == '"' && fields.back().empty()) {
      inside = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (inside) return std::nullopt;
  return fields;
}

template <class T>
bool read_number(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string milliseconds(double seconds) { return fmt::format("{:.6f}", seconds * 1e3); }

// One column: its name, how it is written, and how it is read back (false: it cannot be).
struct Column {
  const char* name;
  std::function<std::string(const HistoryLine&)> write;
  std::function<bool(const std::string&, HistoryLine&)> read;
};

// A text of the line itself, or of its conditions.
Column text_column(const char* name, std::string HistoryLine::*field) {
  return {name, [field](const HistoryLine& line) { return line.*field; },
          [field](const std::string& text, HistoryLine& line) {
            line.*field = text;
            return true;
          }};
}

Column text_column(const char* name, std::string BenchConditions::*field) {
  return {name, [field](const HistoryLine& line) { return line.conditions.*field; },
          [field](const std::string& text, HistoryLine& line) {
            line.conditions.*field = text;
            return true;
          }};
}

template <class T>
Column number_column(const char* name, T HistoryLine::*field) {
  return {name, [field](const HistoryLine& line) { return fmt::format("{}", line.*field); },
          [field](const std::string& text, HistoryLine& line) { return read_number(text, line.*field); }};
}

Column time_column(const char* name, double HistoryLine::*field) {
  return {name, [field](const HistoryLine& line) { return milliseconds(line.*field); },
          [field](const std::string& text, HistoryLine& line) {
            double value = 0;
            if (!read_number(text, value) || !std::isfinite(value)) return false;
            line.*field = value / 1e3;
            return true;
          }};
}

Column optional_column(const char* name, std::optional<double> HistoryLine::*field, double scale) {
  return {name,
          [field, scale](const HistoryLine& line) {
            return line.*field ? fmt::format("{:.6f}", *(line.*field) * scale) : std::string();
          },
          [field, scale](const std::string& text, HistoryLine& line) {
            if (text.empty()) return true;
            double value = 0;
            if (!read_number(text, value) || !std::isfinite(value)) return false;
            line.*field = value / scale;
            return true;
          }};
}

Column flag_column(const char* name, bool BenchConditions::*field) {
  return {name, [field](const HistoryLine& line) { return std::string(line.conditions.*field ? "yes" : "no"); },
          [field](const std::string& text, HistoryLine& line) {
            line.conditions.*field = text == "yes";
            return text == "yes" || text == "no";
          }};
}

const std::vector<Column>& columns() {
  static const std::vector<Column> all = {text_column("date", &HistoryLine::date),
                                          text_column("name", &HistoryLine::name),
                                          text_column("kind", &HistoryLine::kind),
                                          text_column("sha256", &HistoryLine::sha256),
                                          text_column("target", &BenchConditions::target),
                                          flag_column("emulated", &BenchConditions::emulated),
                                          text_column("threads", &BenchConditions::threads),
                                          text_column("inter_threads", &BenchConditions::inter_threads),
                                          text_column("mode", &BenchConditions::mode),
                                          text_column("performance", &BenchConditions::performance),
                                          text_column("optimisation", &BenchConditions::optimisation),
                                          text_column("runtime", &BenchConditions::runtime),
                                          text_column("provider", &BenchConditions::provider),
                                          text_column("host", &BenchConditions::host),
                                          text_column("cpu", &BenchConditions::cpu),
                                          text_column("tool_version", &BenchConditions::tool_version),
                                          text_column("inputs_sha256", &BenchConditions::inputs_sha256),
                                          number_column("warm_up", &HistoryLine::warm_up),
                                          number_column("runs", &HistoryLine::runs),
                                          text_column("verdict", &HistoryLine::verdict),
                                          text_column("noise", &HistoryLine::noise),
                                          number_column("cores", &HistoryLine::cores),
                                          optional_column("others_cores", &HistoryLine::others, 1),
                                          number_column("load_before", &HistoryLine::load_before),
                                          number_column("load_after", &HistoryLine::load_after),
                                          optional_column("median_ms", &HistoryLine::median, 1e3),
                                          optional_column("p10_ms", &HistoryLine::p10, 1e3),
                                          optional_column("p90_ms", &HistoryLine::p90, 1e3),
                                          optional_column("p95_ms", &HistoryLine::p95, 1e3),
                                          time_column("min_ms", &HistoryLine::min),
                                          time_column("max_ms", &HistoryLine::max),
                                          number_column("peak_bytes", &HistoryLine::peak)};
  return all;
}

struct Descriptor {
  int number = -1;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

Status write_all(int descriptor, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t part = ::write(descriptor, text.data() + done, text.size() - done);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return input_error("", errno_text(part == 0 ? ENOSPC : errno));
    done += static_cast<size_t>(part);
  }
  return {};
}

bool begins_with_header(int descriptor) {
  const std::string wanted = history_header() + "\n";
  std::string start(wanted.size(), '\0');
  const ssize_t got = ::pread(descriptor, start.data(), start.size(), 0);
  return got == static_cast<ssize_t>(wanted.size()) && start == wanted;
}

}  // namespace

std::string_view name(Noise::Answer answer) {
  switch (answer) {
    case Noise::Answer::kQuiet:
      return "quiet";
    case Noise::Answer::kNoisy:
      return "noisy";
    case Noise::Answer::kTooFewRuns:
      break;
  }
  return "too few runs";
}

HistoryLine history_line(const BenchResult& result, const BenchSide& side) {
  HistoryLine line;
  line.date = result.date;
  line.name = side.name;
  line.kind = side.kind;
  line.sha256 = side.sha256;
  line.conditions = side.conditions;
  line.warm_up = result.warm_up;
  line.runs = side.chain.runs;
  line.verdict = name(side.verdict);
  line.noise = name(side.noise.answer);
  line.others = side.use.others;
  line.load_before = side.use.load_before;
  line.load_after = side.use.load_after;
  line.cores = side.use.cores;
  line.median = side.chain.median;
  line.p10 = side.chain.p10;
  line.p90 = side.chain.p90;
  line.p95 = side.chain.p95;
  line.min = side.chain.min;
  line.max = side.chain.max;
  line.peak = side.peak;
  return line;
}

std::string history_header() {
  std::vector<std::string> names;
  for (const Column& column : columns()) names.emplace_back(column.name);
  return fmt::format("{}", fmt::join(names, ","));
}

std::string history_text(const HistoryLine& line) {
  std::vector<std::string> fields;
  for (const Column& column : columns()) fields.push_back(quoted(column.write(line)));
  return fmt::format("{}", fmt::join(fields, ","));
}

Result<History> parse_history(std::string_view text, const std::string& subject) {
  History history;
  uint64_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (++number == 1) {
      if (row != history_header())
        return input_error(subject, "its first line is not the header of a history of timings",
                           "name another file with --history");
      continue;
    }
    if (row.empty()) continue;
    std::string why;
    HistoryLine line;
    const auto fields = split_fields(row);
    if (!fields || fields->size() != columns().size())
      why = fmt::format("it has not {} fields", columns().size());
    else
      for (size_t i = 0; i < fields->size() && why.empty(); ++i)
        if (!columns()[i].read((*fields)[i], line)) why = fmt::format("\"{}\" cannot be read", columns()[i].name);
    if (why.empty())
      history.lines.push_back(std::move(line));
    else if (history.damaged.size() < kMostDamaged)
      history.damaged.push_back(fmt::format("line {}: {}", number, why));
  }
  return history;
}

Result<History> load_history(const Path& file) {
  std::error_code code;
  if (!std::filesystem::exists(file, code)) return History{};
  PARITAS_ASSIGN(const std::string text, read_text(file, kMostBytes));
  return parse_history(text, file.string());
}

Status append_to_history(const Path& file, const std::vector<HistoryLine>& lines) {
  if (lines.empty()) return {};
  const auto failed = [&](const std::string& cause) {
    return input_error(file.string(), "the history cannot be added to: " + cause, "name another file with --history");
  };
  Descriptor history{::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644)};
  if (history.number < 0) return failed(errno_text(errno));
  struct stat status {};
  if (::fstat(history.number, &status) != 0) return failed(errno_text(errno));
  if (!S_ISREG(status.st_mode)) return failed("it is no regular file");
  while (::flock(history.number, LOCK_EX) != 0)
    if (errno != EINTR) return failed(errno_text(errno));
  if (::fstat(history.number, &status) != 0) return failed(errno_text(errno));
  std::string text;
  if (status.st_size == 0)
    text = history_header() + "\n";
  else if (!begins_with_header(history.number))
    return failed("its first line is not the header of a history of timings");
  // What a killed process left unfinished stays, on a line of its own.
  char last = '\n';
  if (status.st_size > 0 && ::pread(history.number, &last, 1, status.st_size - 1) == 1 && last != '\n') text = "\n";
  for (const HistoryLine& line : lines) text += history_text(line) + "\n";
  auto written = write_all(history.number, text);
  if (written) return {};
  const int undone = ::ftruncate(history.number, status.st_size);
  return failed(written.error().cause + (undone == 0 ? "" : " (half a line was left)"));
}

const HistoryLine* last_of(const History& history, const std::string& name) {
  for (auto it = history.lines.rbegin(); it != history.lines.rend(); ++it)
    if (it->name == name) return &*it;
  return nullptr;
}

namespace {

// Shares of a machine's cores that others kept busy; farther apart than this, the load was another.
constexpr double kSameLoad = 0.1;

void compare_texts(const BenchConditions& before, const BenchConditions& now, std::vector<std::string>& reasons) {
  const std::pair<const char*, std::string BenchConditions::*> texts[] = {
      {"target", &BenchConditions::target},
      {"threads", &BenchConditions::threads},
      {"inter-op threads", &BenchConditions::inter_threads},
      {"execution mode", &BenchConditions::mode},
      {"performance mode", &BenchConditions::performance},
      {"optimisation", &BenchConditions::optimisation},
      {"ONNX Runtime", &BenchConditions::runtime},
      {"provider library", &BenchConditions::provider},
      {"system", &BenchConditions::host},
      {"processor", &BenchConditions::cpu},
      {"paritas", &BenchConditions::tool_version},
      {"inputs", &BenchConditions::inputs_sha256}};
  for (const auto& [what, field] : texts)
    if (before.*field != now.*field) reasons.push_back(fmt::format("{}: {}, then {}", what, before.*field, now.*field));
}

}  // namespace

std::vector<std::string> differences(const HistoryLine& before, const HistoryLine& now) {
  std::vector<std::string> reasons;
  compare_texts(before.conditions, now.conditions, reasons);
  if (before.warm_up != now.warm_up)
    reasons.push_back(fmt::format("warm-up: {} runs, then {}", before.warm_up, now.warm_up));
  const std::pair<const HistoryLine*, const char*> rounds[] = {{&before, "the earlier round"}, {&now, "this round"}};
  for (const auto& [line, which] : rounds) {
    if (line->conditions.emulated) reasons.push_back(fmt::format("{} is host time of an emulation", which));
    if (!line->median)
      reasons.push_back(fmt::format("{} is a single run", which));
    else if (line->noise != name(Noise::Answer::kQuiet))
      reasons.push_back(fmt::format("noise of {}: {}", which, line->noise));
    if (line->verdict == name(Verdict::kDeviates) || line->verdict == name(Verdict::kInvalid))
      reasons.push_back(fmt::format("{} timed wrong results (verdict {})", which, line->verdict));
  }
  if (before.others && now.others && std::abs(*before.others - *now.others) > kSameLoad * std::max(1, now.cores))
    reasons.push_back(
        fmt::format("load: other processes kept {:.2f} cores busy, then {:.2f}", *before.others, *now.others));
  return reasons;
}

}  // namespace paritas
