#include "paritas/vendor/ort_profile.h"

#include <charconv>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "paritas/vendor/json_walk.h"

namespace paritas {
namespace {

using Value = JsonWalk::Value;

constexpr std::string_view kKernel = "_kernel_time";
constexpr int64_t kMaxDuration = int64_t{1} << 40;  // microseconds, 12 days: sums of any file's events then fit
constexpr const char* kRemedy = "give a profile that ONNX Runtime wrote (enable_profiling)";

struct Event {
  std::string category, name, provider, op;
  std::optional<int64_t> duration;
  std::optional<uint64_t> input_bytes, output_bytes;
};

class ProfileReader {
 public:
  explicit ProfileReader(const std::string& subject) : walk_(subject) {}

  Result<OrtProfile> read(const Path& path) {
    PARITAS_ASSIGN(const JsonText text, JsonText::read(path));
    PARITAS_TRY(walk_.document(
        text, [this](Value value) { return walk_.array(value, [this](Value event) { return read_event(event); }); }));
    if (events_ == 0) return input_error(walk_.subject(), "holds no event", kRemedy);
    if (profile_.nodes.empty())
      return input_error(walk_.subject(), "names no node that ran",
                         "profile a session that runs the model at least once");
    return std::move(profile_);
  }

 private:
  Status read_event(Value value) {
    ++events_;
    Event event;
    PARITAS_TRY(walk_.object(value, [&](const std::string& key, Value member) -> Status {
      if (key == "cat") return text(member, "\"cat\" to be a text", event.category);
      if (key == "name") return text(member, "\"name\" to be a text", event.name);
      if (key == "args") return read_arguments(member, event);
      if (key != "dur") return walk_.skip(member);
      int64_t duration = 0;
      if (member.get_int64().get(duration)) return walk_.expected("\"dur\" to be a whole number");
      event.duration = duration;
      return {};
    }));
    return take(event);
  }

  Status read_arguments(Value value, Event& event) {
    return walk_.object(value, [&](const std::string& key, Value member) -> Status {
      if (key == "provider") return text(member, "\"provider\" to be a text", event.provider);
      if (key == "op_name") return text(member, "\"op_name\" to be a text", event.op);
      if (key == "activation_size") return bytes(member, event.input_bytes);
      if (key == "output_size") return bytes(member, event.output_bytes);
      return walk_.skip(member);
    });
  }

  Status text(Value member, const char* what, std::string& to) {
    PARITAS_ASSIGN(to, walk_.string(member, what));
    return {};
  }

  // A number that stands in quotes.
  Status bytes(Value member, std::optional<uint64_t>& to) {
    PARITAS_ASSIGN(const std::string digits, walk_.string(member, "a size to be a number in quotes"));
    uint64_t size = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    if (code != std::errc() || end != digits.data() + digits.size())
      return walk_.expected("a size to be a number in quotes");
    to = size;
    return {};
  }

  Status take(const Event& event) {
    const bool run = event.category == "Session" && event.name == "model_run";
    const bool kernel = event.category == "Node" && std::string_view(event.name).ends_with(kKernel);
    if (!run && !kernel) return {};  // fences, loading, optimisation
    if (!event.duration || *event.duration < 0 || *event.duration > kMaxDuration)
      return input_error(walk_.subject(), fmt::format("the event \"{}\" has no credible duration", event.name),
                         kRemedy);
    const auto duration = static_cast<uint64_t>(*event.duration);
    if (run) {
      ++profile_.runs;
      profile_.run_microseconds += duration;
      return {};
    }
    if (event.provider.empty())
      return input_error(walk_.subject(), fmt::format("the event \"{}\" names no provider", event.name), kRemedy);
    const std::string name = event.name.substr(0, event.name.size() - kKernel.size());
    const auto [place, added] = where_.emplace(std::tuple(name, event.op, event.provider), profile_.nodes.size());
    if (added) profile_.nodes.push_back({name, event.op, event.provider, 0, 0, event.input_bytes, event.output_bytes});
    ProfiledNode& node = profile_.nodes[place->second];
    ++node.calls;
    node.microseconds += duration;
    return {};
  }

  JsonWalk walk_;
  OrtProfile profile_;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> where_;
  uint64_t events_ = 0;
};

}  // namespace

uint64_t OrtProfile::calls_on(const std::string& provider) const {
  uint64_t calls = 0;
  for (const ProfiledNode& node : nodes)
    if (node.provider == provider) calls += node.calls;
  return calls;
}

Result<OrtProfile> read_ort_profile(const Path& path) { return ProfileReader(path.string()).read(path); }

}  // namespace paritas
