// What two packages state: contract, cut, parts, environment, gates, tasks, and how they were made.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/delivery/compare_packages_steps.h"
#include "paritas/delivery/judge_recordings.h"
#include "paritas/judge/gates.h"
#include "paritas/judge/gates_write.h"

namespace paritas::package_diff {
namespace {

using Text = std::optional<std::string>;

Text given(const std::string& text) { return text.empty() ? Text() : Text(text); }
Text hash(const std::string& sha256) { return sha256.empty() ? Text() : Text("SHA-256 " + sha256); }
std::string yes_or_no(bool value) { return value ? "yes" : "no"; }
std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

class Facts {
 public:
  void add(const char* area, const std::string& subject, Text before, Text after, bool matters = true) {
    if (before != after) facts_.push_back({area, subject, std::move(before), std::move(after), matters});
  }

  // Each item of two lists by its key, the first's order first. One side is nullptr where it lacks the item.
  template <class T, class Key, class Visit>
  static void by_key(const std::vector<T>& before, const std::vector<T>& after, const Key& key, const Visit& visit) {
    auto find = [&](const std::vector<T>& list, const std::string& wanted) {
      const auto it = std::find_if(list.begin(), list.end(), [&](const T& item) { return key(item) == wanted; });
      return it == list.end() ? nullptr : &*it;
    };
    for (const T& item : before) visit(key(item), &item, find(after, key(item)));
    for (const T& item : after)
      if (find(before, key(item)) == nullptr) visit(key(item), nullptr, &item);
  }

  void add_table(const char* area, const std::string& subject, const std::map<std::string, std::string>& before,
                 const std::map<std::string, std::string>& after, bool matters = true) {
    std::set<std::string> keys;
    for (const auto& [key, value] : before) keys.insert(key);
    for (const auto& [key, value] : after) keys.insert(key);
    auto find = [](const auto& table, const std::string& key) {
      const auto it = table.find(key);
      return it == table.end() ? Text() : Text(it->second);
    };
    for (const std::string& key : keys) add(area, subject + key, find(before, key), find(after, key), matters);
  }

  // Members of two objects; what is no object counts as a whole.
  void add_json(const char* area, const std::string& subject, const Json& before, const Json& after) {
    if (!before.is_object() || !after.is_object()) {
      add(area, subject, dump_json(before, -1), dump_json(after, -1));
      return;
    }
    std::map<std::string, std::string> a, b;
    for (const auto& [key, value] : before.items()) a[key] = dump_json(value, -1);
    for (const auto& [key, value] : after.items()) b[key] = dump_json(value, -1);
    add_table(area, subject + ": ", a, b);
  }

  std::vector<PackageFact> take() { return std::move(facts_); }

 private:
  std::vector<PackageFact> facts_;
};

std::string tensor_text(DType dtype, const Shape& shape) { return fmt::format("{} {}", name(dtype), to_string(shape)); }

void add_contract(const char* kind, const std::vector<ContractPort>& before, const std::vector<ContractPort>& after,
                  Facts& facts) {
  auto key = [](const ContractPort& port) { return port.name; };
  Facts::by_key(before, after, key, [&](const std::string& port, const ContractPort* a, const ContractPort* b) {
    const std::string subject = fmt::format("{} {}", kind, port);
    auto type = [](const ContractPort* p) { return p == nullptr ? Text() : Text(tensor_text(p->dtype, p->shape)); };
    facts.add("contract", subject, type(a), type(b));
    if (a == nullptr || b == nullptr) return;
    facts.add("contract", subject + ": role", given(a->role), given(b->role));
    facts.add("contract", subject + ": meaning", given(a->meaning), given(b->meaning));
    auto picture = [](const ContractPort& p) { return p.picture ? Text(dump_json(*p.picture, -1)) : Text(); };
    if (a->picture && b->picture)
      facts.add_json("contract", subject + ": picture", *a->picture, *b->picture);
    else
      facts.add("contract", subject + ": picture", picture(*a), picture(*b));
  });
}

void add_boundary(const std::string& cut, const BoundaryTensor& a, const BoundaryTensor& b, Facts& facts) {
  const std::string subject = fmt::format("cut {}: {}", cut, a.name);
  auto size = [](const BoundaryTensor& t) {
    return fmt::format("{}, {} elements, {} bytes", tensor_text(t.dtype, t.shape), t.elements, t.bytes);
  };
  facts.add("cut", subject + ": source", a.source, b.source);
  facts.add("cut", subject, size(a), size(b));
  facts.add("cut", subject + ": made by", given(a.op), given(b.op));
  facts.add("cut", subject + ": made from", given(joined(a.made_from)), given(joined(b.made_from)));
  facts.add("cut", subject + ": read by", given(joined(a.read_by)), given(joined(b.read_by)));
}

// Cut N lies between parts N and N + 1; its name is for people.
void add_cuts(const Manifest& before, const Manifest& after, Facts& facts) {
  for (size_t i = 0; i < std::max(before.cuts.size(), after.cuts.size()); ++i) {
    const PackageCut* a = i < before.cuts.size() ? &before.cuts[i] : nullptr;
    const PackageCut* b = i < after.cuts.size() ? &after.cuts[i] : nullptr;
    const std::string cut = std::to_string(i + 1);
    auto name = [](const PackageCut* c) { return c == nullptr ? Text() : Text(c->name); };
    facts.add("cut", fmt::format("cut {}: name", cut), name(a), name(b), a == nullptr || b == nullptr);
    auto sum = [](const PackageCut* c) {
      if (c == nullptr) return Text();
      uint64_t bytes = 0;
      for (const BoundaryTensor& tensor : c->tensors) bytes += tensor.bytes;
      return Text(fmt::format("{} tensor{}, {} bytes", c->tensors.size(), c->tensors.size() == 1 ? "" : "s", bytes));
    };
    facts.add("cut", fmt::format("cut {}: in all", cut), sum(a), sum(b));
    if (a == nullptr || b == nullptr) continue;
    Facts::by_key(
        a->tensors, b->tensors, [](const BoundaryTensor& t) { return t.name; },
        [&](const std::string& tensor, const BoundaryTensor* x, const BoundaryTensor* y) {
          if (x != nullptr && y != nullptr) return add_boundary(cut, *x, *y, facts);
          auto source = [](const BoundaryTensor* t) { return t == nullptr ? Text() : Text(t->source); };
          facts.add("cut", fmt::format("cut {}: {}", cut, tensor), source(x), source(y));
        });
  }
}

void add_ports(const std::string& subject, const std::vector<PackagePort>& before,
               const std::vector<PackagePort>& after, Facts& facts) {
  auto text = [](const PackagePort* port) {
    return port == nullptr ? Text() : Text(fmt::format("{}, {}", port->tensor, tensor_text(port->dtype, port->shape)));
  };
  Facts::by_key(
      before, after, [](const PackagePort& port) { return port.name; },
      [&](const std::string& port, const PackagePort* a, const PackagePort* b) {
        facts.add("parts", subject + " " + port, text(a), text(b));
      });
}

std::string placed(const PlacementCounts& placement) {
  std::vector<std::string> words;
  for (const auto& [provider, nodes] : placement.nodes) words.push_back(fmt::format("{} on {}", nodes, provider));
  return fmt::format("{} in {} partitions", joined(words), placement.partitions);
}

void add_context(const std::string& subject, const PackagePart& a, const PackagePart& b, Facts& facts) {
  auto fact = [](const PackagePart& part, auto member) {
    return part.context ? given(std::invoke(member, *part.context)) : Text();
  };
  facts.add("environment", subject + ": SDK that compiled it", fact(a, &ContextFacts::sdk_version),
            fact(b, &ContextFacts::sdk_version));
  facts.add("parts", subject + ": context of", fact(a, &ContextFacts::provider), fact(b, &ContextFacts::provider));
  // A name that the provider makes up.
  facts.add("made", subject + ": partition", fact(a, &ContextFacts::partition), fact(b, &ContextFacts::partition),
            false);
  auto embedded = [](const PackagePart& part) {
    return part.context ? Text(yes_or_no(part.context->embedded)) : Text();
  };
  facts.add("parts", subject + ": context embedded", embedded(a), embedded(b));
  auto ops = [](const PackagePart& part) {
    return part.trace ? Text(fmt::format("{} operations", part.trace->source_ops)) : Text();
  };
  facts.add("parts", subject + ": op trace", ops(a), ops(b));
}

void add_part(const PackagePart& a, const PackagePart& b, Facts& facts) {
  const std::string subject = "part " + a.name;
  facts.add("parts", subject + ": file", a.file, b.file);
  facts.add("parts", subject + ": further files", given(joined(a.weights)), given(joined(b.weights)));
  facts.add("parts", subject + ": for the device", yes_or_no(a.on_device), yes_or_no(b.on_device));
  facts.add("parts", subject + ": compiled", yes_or_no(a.compiled), yes_or_no(b.compiled));
  facts.add("parts", subject + ": target", a.target, b.target);
  facts.add("parts", subject + ": provider", a.provider, b.provider);
  facts.add_table("parts", subject + ": option ", a.options, b.options);
  facts.add("parts", subject + ": optimisation", given(a.optimisation), given(b.optimisation));
  facts.add("parts", subject + ": threads", std::to_string(a.threads), std::to_string(b.threads));
  add_ports(subject + ": input", a.inputs, b.inputs, facts);
  add_ports(subject + ": output", a.outputs, b.outputs, facts);
  facts.add("parts", subject + ": nodes of the model", std::to_string(a.nodes), std::to_string(b.nodes));
  facts.add("parts", subject + ": placement when built", placed(a.placement), placed(b.placement));
  add_context(subject, a, b, facts);
}

void add_parts(const Manifest& before, const Manifest& after, Facts& facts) {
  Facts::by_key(
      before.parts, after.parts, [](const PackagePart& part) { return part.name; },
      [&](const std::string& part, const PackagePart* a, const PackagePart* b) {
        auto target = [](const PackagePart* p) {
          return p == nullptr ? Text() : Text(fmt::format("{} for {}", p->file, p->target));
        };
        if (a == nullptr || b == nullptr)
          facts.add("parts", "part " + part, target(a), target(b));
        else
          add_part(*a, *b, facts);
      });
  auto order = [](const Manifest& manifest) {
    std::vector<std::string> names;
    for (const PackagePart& part : manifest.parts) names.push_back(part.name);
    return joined(names);
  };
  facts.add("parts", "order of the parts", order(before), order(after));
}

// The version stands in the names of libraries: "libonnxruntime.so.1.32.0".
std::string stem_of(const PackageLibrary& library) {
  for (const char* ending : {".so", ".dylib", ".dll"})
    if (const size_t at = library.name.find(ending); at != std::string::npos) return library.name.substr(0, at);
  return library.name;
}

void add_environment(const PackageEnvironment& before, const PackageEnvironment& after, Facts& facts) {
  auto text = [](const PackageLibrary* library) {
    if (library == nullptr) return Text();
    return Text(fmt::format("{}{}{}, SHA-256 {}", library->name, library->version.empty() ? "" : " ", library->version,
                            library->sha256));
  };
  Facts::by_key(before.libraries, after.libraries, stem_of,
                [&](const std::string& stem, const PackageLibrary* a, const PackageLibrary* b) {
                  facts.add("environment", "library " + stem, text(a), text(b));
                });
  facts.add_table("environment", "device: ", before.device, after.device);
  facts.add("made", "host", before.host, after.host, false);
}

Result<std::optional<GateSet>> gates_of(const Package& package, const PackageGates& declared) {
  if (declared.file.empty()) return std::optional<GateSet>();
  PARITAS_ASSIGN(GateSet gates, package_gates(package, declared));
  return std::optional(std::move(gates));
}

void add_gates(const char* subject, const std::optional<GateSet>& before, const std::optional<GateSet>& after,
               Facts& facts) {
  auto count = [](const std::optional<GateSet>& set) {
    return set ? Text(fmt::format("{} gates", set->gates.size())) : Text();
  };
  if (!before || !after) return facts.add("gates", subject, count(before), count(after));
  auto texts = [](const GateSet& set) {
    std::vector<std::string> all;
    for (const Gate& gate : set.gates) all.push_back(gate.text());
    return all;
  };
  const std::vector<std::string> a = texts(*before), b = texts(*after);
  auto has = [](const std::vector<std::string>& list, const std::string& text) {
    return std::find(list.begin(), list.end(), text) != list.end();
  };
  bool told = false;
  for (const std::string& gate : a)
    if (!has(b, gate)) facts.add("gates", subject, gate, Text()), told = true;
  for (const std::string& gate : b)
    if (!has(a, gate)) facts.add("gates", subject, Text(), gate), told = true;
  // What the text of a gate leaves out: whether it may match nothing, what is forbidden of values that are not finite.
  if (!told)
    facts.add("gates", fmt::format("{}, as a whole", subject), dump_json(gates_to_json(*before), -1),
              dump_json(gates_to_json(*after), -1));
}

std::string task_name(const Json& task) {
  const auto it = task.is_object() ? task.find("name") : task.end();
  return it != task.end() && it->is_string() ? it->get<std::string>() : std::string();
}

void add_tasks(const Manifest& before, const Manifest& after, Facts& facts) {
  if (!before.tasks.is_array() || !after.tasks.is_array())
    return facts.add_json("tasks", "tasks", before.tasks, after.tasks);
  auto list = [](const Json& tasks) { return std::vector<Json>(tasks.begin(), tasks.end()); };
  Facts::by_key(list(before.tasks), list(after.tasks), task_name,
                [&](const std::string& task, const Json* a, const Json* b) {
                  auto text = [](const Json* json) { return json == nullptr ? Text() : Text(dump_json(*json, -1)); };
                  if (a == nullptr || b == nullptr)
                    facts.add("tasks", "task " + task, text(a), text(b));
                  else
                    facts.add_json("tasks", "task " + task, *a, *b);
                });
}

// The model that was split is not delivered: what of it matters shows in parts, contract and reference.
void add_making(const Manifest& before, const Manifest& after, Facts& facts) {
  facts.add("source", "model", given(before.source_name), given(after.source_name), false);
  facts.add("source", "model's content", hash(before.source_sha256), hash(after.source_sha256), false);
  facts.add("source", "producer", given(before.producer), given(after.producer), false);
  auto opsets = [](const Manifest& manifest) {
    std::map<std::string, std::string> table;
    for (const auto& [domain, version] : manifest.opsets) table[domain] = std::to_string(version);
    return table;
  };
  facts.add_table("source", "operator set ", opsets(before), opsets(after), false);
  facts.add("source", "pinned dimensions", given(joined(before.pinned)), given(joined(after.pinned)), false);
  facts.add("parts", "premise, parts against the whole", given(before.premise), given(after.premise));
  facts.add("reference", "target", given(before.reference.target), given(after.reference.target));
  auto command = [](const Manifest& manifest) { return given(fmt::format("{}", fmt::join(manifest.command, " "))); };
  facts.add("made", "command", command(before), command(after), false);
  facts.add("made", "tool version", given(before.tool_version), given(after.tool_version), false);
  facts.add("made", "date", given(before.created), given(after.created), false);
  facts.add("made", "notes", given(fmt::format("{}", fmt::join(before.notes, "; "))),
            given(fmt::format("{}", fmt::join(after.notes, "; "))), false);
  auto tried = [](const Manifest& manifest) {
    std::vector<std::string> changes;
    for (const TriedBefore& t : manifest.tried)
      changes.push_back(fmt::format("{} {}: {}", t.kind, t.change, t.outcome));
    return given(fmt::format("{}", fmt::join(changes, "; ")));
  };
  facts.add("made", "tried and not delivered", tried(before), tried(after), false);
}

// --- files

std::string role_of(const Manifest& manifest, const std::string& path) {
  for (const PackagePart& part : manifest.parts) {
    if (part.file == path || std::find(part.weights.begin(), part.weights.end(), path) != part.weights.end())
      return "part " + part.name;
    if (part.trace && part.trace->file == path) return "evidence";
  }
  if (path.rfind(manifest.reference.folder + "/", 0) == 0) return "reference";
  if (path == manifest.chain_gates.file || path == manifest.cpu_gates.file) return "gates";
  for (const Json& task : manifest.tasks)
    if (const auto it = task.is_object() ? task.find("labels") : task.end(); it != task.end() && *it == path)
      return "labels";
  return "unknown";
}

}  // namespace

Result<std::vector<PackageFact>> compare_facts(const Package& before, const Package& after) {
  const Manifest& a = before.manifest;
  const Manifest& b = after.manifest;
  Facts facts;
  add_contract("input", a.inputs, b.inputs, facts);
  add_contract("output", a.outputs, b.outputs, facts);
  add_cuts(a, b, facts);
  add_parts(a, b, facts);
  add_environment(a.environment, b.environment, facts);
  PARITAS_ASSIGN(const auto chain_before, gates_of(before, a.chain_gates));
  PARITAS_ASSIGN(const auto chain_after, gates_of(after, b.chain_gates));
  add_gates("gate of the chain", chain_before, chain_after, facts);
  PARITAS_ASSIGN(const auto cpu_before, gates_of(before, a.cpu_gates));
  PARITAS_ASSIGN(const auto cpu_after, gates_of(after, b.cpu_gates));
  add_gates("gate of the CPU parts", cpu_before, cpu_after, facts);
  add_tasks(a, b, facts);
  add_making(a, b, facts);
  return facts.take();
}

std::vector<ComparedFile> compare_files(const Manifest& before, const Manifest& after) {
  std::vector<ComparedFile> files;
  auto add = [&](const std::string& path, const PackageFile* a, const PackageFile* b) {
    ComparedFile file;
    file.path = path;
    file.role = role_of(b != nullptr ? after : before, path);
    if (a != nullptr) file.before = *a;
    if (b != nullptr) file.after = *b;
    file.difference = a == nullptr             ? Difference::kAdded
                      : b == nullptr           ? Difference::kRemoved
                      : a->sha256 == b->sha256 ? Difference::kSame
                                               : Difference::kChanged;
    file.matters = file.difference != Difference::kSame && (file.role == "unknown" || file.role == "labels");
    files.push_back(std::move(file));
  };
  for (const PackageFile& file : before.files) add(file.path, &file, after.file(file.path));
  for (const PackageFile& file : after.files)
    if (before.file(file.path) == nullptr) add(file.path, nullptr, &file);
  return files;
}

}  // namespace paritas::package_diff
