#include "paritas/compare/pairing.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/judge/toml_json.h"

namespace paritas {
namespace {

std::string lower(const std::string& text) {
  std::string small = text;
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

// TensorFlow's ":0", and only where something stands before it. ":1" is another output of the node.
std::string without_output_number(const std::string& text) {
  const bool first = text.size() > 2 && text.compare(text.size() - 2, 2, ":0") == 0;
  return first ? text.substr(0, text.size() - 2) : text;
}

// What is no letter or digit becomes "_"; at the ends it goes (SNPE and QNN write "/a/b.c" as "_a_b_c").
std::string sanitised(const std::string& text) {
  std::string out;
  for (char c : text) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      (static_cast<unsigned char>(c) & 0x80) != 0;
    out += word ? c : '_';
  }
  const auto first = out.find_first_not_of('_');
  if (first == std::string::npos) return text;
  return out.substr(first, out.find_last_not_of('_') - first + 1);
}

std::string without_layout(const std::string& text) {
  const std::string small = lower(text);
  for (const char* suffix :
       {"_nchw", "_nhwc", "_nhcw", "_ncs", "_nsc", "_nfc", "_ncf", ".nchw", ".nhwc", ".ncs", ".nsc"}) {
    const std::string s = suffix;
    if (small.size() > s.size() && small.compare(small.size() - s.size(), s.size(), s) == 0)
      return text.substr(0, text.size() - s.size());
  }
  return text;
}

// A fused node that lists its members carries the result of the last: "conv + relu" (TensorRT), "conv;relu" (TFLite).
std::string last_member(const std::string& text) {
  for (const char* separator : {" + ", ";"}) {
    const auto at = text.rfind(separator);
    const std::string s = separator;
    if (at != std::string::npos && at > 0 && at + s.size() < text.size()) return text.substr(at + s.size());
  }
  return text;
}

struct Rule {
  const char* name;  // as results show it
  std::string (*apply)(const std::string&);
};

// In the order in which they are tried, each on top of those before (docs/compare.md).
constexpr Rule kRules[] = {
    {"output number", without_output_number},  // "probs:0" is "probs"
    {"fused", last_member},                    // "conv + relu" and "conv;relu" carry the result of "relu"
    {"layout", without_layout},                // "x_nhwc" is "x"
    {"sanitised", sanitised},                  // "/a/b.c" is "a_b_c"
    {"case", lower},
};

// One side's names, of which some are taken.
struct Names {
  std::vector<std::string> all;
  std::vector<std::string> canonical;  // after the rules so far
  std::vector<bool> taken;
  std::vector<bool> settled;  // by an alias: it claims no other name any more

  explicit Names(const std::vector<std::string>& names)
      : all(names), canonical(names), taken(names.size(), false), settled(names.size(), false) {}

  size_t find(const std::string& name) const {
    return static_cast<size_t>(std::find(all.begin(), all.end(), name) - all.begin());
  }
  std::unordered_map<std::string, std::vector<size_t>> by_canonical() const {
    std::unordered_map<std::string, std::vector<size_t>> index;
    for (size_t i = 0; i < all.size(); ++i)
      if (!settled[i]) index[canonical[i]].push_back(i);
    return index;
  }
};

Status refuse_duplicates(const std::vector<std::string>& names, const std::string& subject) {
  std::unordered_set<std::string> seen;
  for (const std::string& name : names)
    if (!seen.insert(name).second)
      return input_error(subject, fmt::format("holds two tensors called \"{}\": nothing says which is meant", name),
                         "rename one of them");
  return {};
}

class Pairer {
 public:
  Pairer(const std::vector<std::string>& reference, const std::vector<std::string>& device, const PairingRules& rules)
      : x_(reference), y_(device), rules_(rules), partner_(reference.size()) {}

  Result<Pairing> run() {
    PARITAS_TRY(pair_aliases());
    pair_exactly();
    if (rules_.normalised) PARITAS_TRY(pair_by_rules());
    Pairing result;
    for (size_t i = 0; i < x_.all.size(); ++i) {
      if (x_.taken[i])
        result.pairs.push_back({x_.all[i], y_.all[partner_[i].first], partner_[i].second});
      else
        result.unmatched_reference.push_back(x_.all[i]);
    }
    for (size_t i = 0; i < y_.all.size(); ++i)
      if (!y_.taken[i]) result.unmatched_device.push_back(y_.all[i]);
    return result;
  }

 private:
  void take(size_t i, size_t k, std::string rule) {
    x_.taken[i] = y_.taken[k] = true;
    partner_[i] = {k, std::move(rule)};
  }

  Status pair_aliases() {
    for (const auto& [from, to] : rules_.aliases) {
      const size_t i = x_.find(from), k = y_.find(to);
      if (i == x_.all.size())
        return input_error("alias", fmt::format("the reference has no tensor \"{}\"", from), "check the aliases");
      if (k == y_.all.size())
        return input_error("alias", fmt::format("the device has no tensor \"{}\"", to), "check the aliases");
      if (y_.taken[k])
        return input_error("alias", fmt::format("two reference tensors claim the device's \"{}\"", to),
                           "check the aliases");
      take(i, k, "alias");
      x_.settled[i] = y_.settled[k] = true;
    }
    return {};
  }

  void pair_exactly() {
    std::unordered_map<std::string, size_t> index;
    for (size_t k = 0; k < y_.all.size(); ++k) index.emplace(y_.all[k], k);
    for (size_t i = 0; i < x_.all.size(); ++i)
      if (auto it = index.find(x_.all[i]); !x_.taken[i] && it != index.end() && !y_.taken[it->second])
        take(i, it->second, "exact");
  }

  Status pair_by_rules() {
    std::string applied;
    for (const Rule& rule : kRules) {
      bool changed = false;
      for (Names* side : {&x_, &y_})
        for (std::string& name : side->canonical) {
          std::string next = rule.apply(name);
          changed |= next != name;
          name = std::move(next);
        }
      if (!changed) continue;
      applied += (applied.empty() ? "" : " + ") + std::string(rule.name);
      PARITAS_TRY(pair_canonical(applied));
    }
    return {};
  }

  // Names that became equal. Two of one side that became one leave open which is meant, even where one of them is
  // paired already: the other would have been as lawful.
  Status pair_canonical(const std::string& applied) {
    const auto xs = x_.by_canonical(), ys = y_.by_canonical();
    for (size_t i = 0; i < x_.all.size(); ++i) {
      if (x_.taken[i]) continue;
      const auto found = ys.find(x_.canonical[i]);
      if (found == ys.end()) continue;
      const auto& same = xs.at(x_.canonical[i]);
      const auto& candidates = found->second;
      if (same.size() > 1) return collision(x_, same, "reference", y_.all[candidates[0]], applied);
      if (candidates.size() > 1) return collision(y_, candidates, "device", x_.all[i], applied);
      if (!y_.taken[candidates[0]]) take(i, candidates[0], applied);
    }
    return {};
  }

  static Unexpected collision(const Names& names, const std::vector<size_t>& same, const char* side,
                              const std::string& other, const std::string& applied) {
    return input_error("names",
                       fmt::format("the {}'s \"{}\" and \"{}\" become one name by the rules \"{}\": both claim "
                                   "\"{}\"",
                                   side, names.all[same[0]], names.all[same[1]], applied, other),
                       "say which is meant with an alias file");
  }

  Names x_, y_;
  const PairingRules& rules_;
  std::vector<std::pair<size_t, std::string>> partner_;  // of each reference name: device index and rule
};

}  // namespace

Result<Pairing> pair_names(const std::vector<std::string>& reference, const std::vector<std::string>& device,
                           const PairingRules& rules, const std::string& reference_subject,
                           const std::string& device_subject) {
  PARITAS_TRY(refuse_duplicates(reference, reference_subject));
  PARITAS_TRY(refuse_duplicates(device, device_subject));
  return Pairer(reference, device, rules).run();
}

Result<std::map<std::string, std::string>> load_aliases(const Path& file) {
  PARITAS_ASSIGN(const std::string text, read_text(file, 1 << 20));
  PARITAS_ASSIGN(const Json json, parse_toml(text, file.string()));
  if (json.size() != 1 || !json.contains("aliases") || !json["aliases"].is_object())
    return usage_error(file.string(), "holds no table [aliases]",
                       "write lines like \"boxes\" = \"output0\" below [aliases]");
  std::map<std::string, std::string> aliases;
  for (const auto& [from, to] : json["aliases"].items()) {
    if (!to.is_string()) return usage_error(file.string(), fmt::format("the alias of \"{}\" is not a text", from));
    aliases.emplace(from, to.get<std::string>());
  }
  return aliases;
}

}  // namespace paritas
