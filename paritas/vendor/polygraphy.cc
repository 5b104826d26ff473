#include "paritas/vendor/polygraphy.h"

#include <fmt/format.h>

#include "paritas/base/glob.h"
#include "paritas/tensor/npy.h"
#include "paritas/vendor/base64.h"
#include "paritas/vendor/json_walk.h"
#include "paritas/vendor/remedies.h"

namespace paritas {
namespace {

constexpr const char* kSaveAgain = "save it again with: polygraphy run --save-outputs";

// An array as it stands in the text.
struct Encoded {
  std::string name;
  std::string_view base64;
};
using Iteration = std::vector<Encoded>;

struct Runner {
  std::string name;
  std::vector<Iteration> iterations;
};

class Index {
 public:
  explicit Index(const std::string& subject) : walk_(subject) {}

  Status build(const JsonText& text) {
    return walk_.document(text, [this](JsonWalk::Value value) -> Status {
      simdjson::ondemand::json_type type{};
      if (const auto code = value.type().get(type)) return walk_.error(code);
      if (type == simdjson::ondemand::json_type::array) return inputs(value);
      return results(value);
    });
  }

  std::vector<Runner> runners;
  bool is_inputs = false;

 private:
  using Value = JsonWalk::Value;

  // [{"name": ARRAY, ...}, ...]
  Status inputs(Value value) {
    is_inputs = true;
    runners.push_back({"inputs", {}});
    return walk_.array(value, [this](Value element) {
      Iteration& iteration = runners.back().iterations.emplace_back();
      return arrays(element, iteration);
    });
  }

  // {"lst": [[RUNNER, [ITERATION, ...]], ...], "polygraphy_class": "RunResults"}
  Status results(Value value) {
    std::string kind;
    bool listed = false;
    PARITAS_TRY(walk_.object(value, [&](const std::string& key, Value member) -> Status {
      if (key == "lst") {
        listed = true;
        return walk_.array(member, [this](Value pair) { return runner(pair); });
      }
      if (key != "polygraphy_class") return walk_.skip(member);
      PARITAS_ASSIGN(kind, walk_.string(member, "the name of a class"));
      return {};
    }));
    if (kind == "RunResults" && listed) return {};
    return input_error(walk_.subject(),
                       fmt::format("is not Polygraphy's RunResults (its class is \"{}\")", printable(kind)),
                       kSaveAgain);
  }

  Status runner(Value pair) {
    int position = 0;
    PARITAS_TRY(walk_.array(pair, [&](Value member) -> Status {
      if (++position == 1) {
        PARITAS_ASSIGN(std::string name, walk_.string(member, "the name of a runner"));
        runners.push_back({std::move(name), {}});
        return {};
      }
      if (position > 2) return walk_.expected("a runner as a pair of name and iterations");
      return walk_.array(member, [this](Value element) { return iteration(element); });
    }));
    return position == 2 ? Status() : Status(walk_.expected("a runner as a pair of name and iterations"));
  }

  Status iteration(Value value) {
    Iteration& iteration = runners.back().iterations.emplace_back();
    bool has_outputs = false;
    PARITAS_TRY(walk_.object(value, [&](const std::string& key, Value member) -> Status {
      if (key != "outputs") return walk_.skip(member);
      has_outputs = true;
      return arrays(member, iteration);
    }));
    return has_outputs ? Status() : Status(walk_.expected("an iteration with \"outputs\""));
  }

  Status arrays(Value value, Iteration& iteration) {
    return walk_.object(value, [&](const std::string& key, Value member) -> Status {
      PARITAS_ASSIGN(const std::string_view text, array(key, member));
      iteration.push_back({key, text});
      return {};
    });
  }

  // {"array": BASE64, "polygraphy_class": "ndarray"}, or the same as "values" of a "LazyArray".
  Result<std::string_view> array(const std::string& tensor, Value value) {
    std::string_view text;
    std::string_view inner;
    std::string kind;
    const Status walked = walk_.object(value, [&](const std::string& key, Value member) -> Status {
      if (key == "array") {
        PARITAS_ASSIGN(text, walk_.plain_string(member, "an array in base64"));
      } else if (key == "values") {
        PARITAS_ASSIGN(inner, array(tensor, member));
      } else if (key == "polygraphy_class") {
        PARITAS_ASSIGN(kind, walk_.string(member, "the name of a class"));
      } else {
        return walk_.skip(member);
      }
      return {};
    });
    PARITAS_TRY(walked);
    if (kind == "ndarray" && text.data() != nullptr) return text;
    if (kind == "LazyArray" && inner.data() != nullptr) return inner;
    if (kind == "Tensor")
      return input_error(
          walk_.subject(),
          fmt::format("\"{}\" is a PyTorch tensor: loading it means running a Python pickle", printable(tensor)),
          "save numpy arrays: call .numpy() on the outputs first");
    return input_error(walk_.subject(),
                       fmt::format("\"{}\" is of the class \"{}\", not an array", printable(tensor), printable(kind)),
                       kSaveAgain);
  }

  JsonWalk walk_;
};

Result<std::shared_ptr<std::byte[]>> decode(std::string_view text, uint64_t size, const std::string& subject) {
  auto bytes = std::make_shared_for_overwrite<std::byte[]>(size);
  if (base64_decode(text, {bytes.get(), size})) return bytes;
  return input_error(subject, "its array is not base64", kSaveAgain);
}

Result<FoundTensor> find_array(const JsonText& text, const Encoded& encoded, const std::string& file,
                               const ImportOptions& options) {
  const std::string subject = fmt::format("{}: \"{}\"", file, printable(encoded.name));
  const auto size = base64_size(encoded.base64);
  if (!size) return input_error(subject, "its array is not base64", kSaveAgain);
  const auto claim_from = [&](uint64_t limit) -> Result<NpyClaim> {
    const std::string_view prefix = encoded.base64.substr(0, limit / 3 * 4);
    const uint64_t bytes = *base64_size(prefix);
    PARITAS_ASSIGN(auto start, decode(prefix, bytes, subject));
    return read_npy_claim(Bytes::borrowed({start.get(), bytes}, start), *size, subject);
  };
  auto claim = claim_from(3072);
  if (!claim && *size > 3072) claim = claim_from(kMaxNpyStart + 2);
  PARITAS_TRY(claim);
  FoundTensor found;
  found.name = encoded.name;
  found.dtype = claim->dtype;
  found.shape = claim->shape;
  found.read = [owner = text.bytes, base64 = encoded.base64, size = *size, subject, options]() -> Result<Tensor> {
    PARITAS_ASSIGN(auto bytes, decode(base64, size, subject));
    PARITAS_ASSIGN(const Bytes kept, keep_decoded(bytes, {bytes.get(), size}, options));
    return read_npy(kept, subject);
  };
  return found;
}

Result<const Runner*> pick_runner(const std::vector<Runner>& runners, const ImportOptions& options,
                                  const std::string& subject) {
  // A wish that several sources share is one for those that leave a choice.
  const bool no_choice = options.taken != nullptr && runners.size() == 1;
  const std::string wanted = no_choice ? "" : options.runner;
  if (options.taken != nullptr && !wanted.empty()) options.taken->runner = true;
  const Runner* picked = nullptr;
  bool several = false;
  std::string names;
  for (const Runner& runner : runners) {
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", printable(runner.name));
    if (!wanted.empty() && runner.name != wanted && !glob_match(wanted, runner.name)) continue;
    several |= picked != nullptr;
    picked = &runner;
  }
  if (picked == nullptr && wanted.empty()) return input_error(subject, "holds no results", kSaveAgain);
  if (picked == nullptr)
    return usage_error(declaration_subject(options, Declaration::kRunner, wanted),
                       fmt::format("{} has no such runner", subject), "it has " + names);
  if (several)
    return usage_error(
        subject, fmt::format("holds the results of several runners: {}", names),
        fmt::format("choose one with {} (a pattern such as '*N0*' will do)",
                    options.table.empty() ? "--runner NAME" : declaration_text(options, Declaration::kRunner)));
  return picked;
}

}  // namespace

Result<Found> find_polygraphy(const Path& path, const ImportOptions& options) {
  const std::string subject = path.string();
  PARITAS_ASSIGN(const JsonText text, JsonText::read(path));
  Index index(subject);
  PARITAS_TRY(index.build(text));
  PARITAS_ASSIGN(const Runner* runner, pick_runner(index.runners, options, subject));
  Found found;
  found.format = "polygraphy";
  if (!index.is_inputs) found.notes.push_back(fmt::format("runner {}", printable(runner->name)));
  for (const Iteration& iteration : runner->iterations) {
    FoundSample sample;
    for (const Encoded& encoded : iteration) {
      PARITAS_ASSIGN(FoundTensor tensor, find_array(text, encoded, subject, options));
      if (index.is_inputs) tensor.role = Role::kInput;
      sample.push_back(std::move(tensor));
    }
    found.samples.push_back(std::move(sample));
  }
  return found;
}

}  // namespace paritas
