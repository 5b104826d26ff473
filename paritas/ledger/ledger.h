// The ledger: one line for every experiment that was made on a model, kept beside the results (schema paritas.ledger/1,
// docs/ledger.md). Lines are only ever added.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "paritas/base/files.h"
#include "paritas/base/json.h"

namespace paritas {

inline constexpr const char* kLedgerName = "paritas-ledger.jsonl";

struct LedgerEntry {
  std::string kind;  // "locate", "samples", "cut", "search", "inject", "pieces", "placement", "pin", "package"
  std::string date;  // ISO 8601, UTC
  std::string tool_version;
  std::string model, model_sha256;             // path as given
  std::string reference, device;               // targets as given; empty: none took part
  std::map<std::string, std::string> options;  // of the device, as far as they are known
  std::vector<std::string> gates;
  std::string inputs_sha256;              // names, types, shapes and values; empty: not known
  std::string change;                     // what was other than in the model as given; empty: nothing
  std::string verdict;                    // word of the verdict; empty: the experiment has none
  std::string outcome;                    // in words
  std::map<std::string, double> figures;  // key numbers by name
  std::string delivered;                  // kind "package": the package that holds the change
  std::string result, result_sha256;      // file of the whole result, by name; empty: none was written
};

Json to_json(const LedgerEntry& entry);

// What a ledger holds. Lines that cannot be read are told, and never taken for entries.
struct Ledger {
  std::vector<LedgerEntry> entries;  // in the order of the file
  std::vector<std::string> damaged;  // "line 3: ..."
};
Ledger parse_ledger(std::string_view text);
Result<Ledger> load_ledger(const Path& file);

// What append_to_ledger would refuse now: a folder, another file, one that cannot be written. To be asked before
// anything runs; a file that is not there yet is fine where its folder can be written to.
Status check_ledger_file(const Path& file);

// Adds lines at the end, in one piece and under a lock: other processes may do so at the same time. A last line that a
// killed process left unfinished stays as it is, on a line of its own.
Status append_to_ledger(const Path& file, const std::vector<LedgerEntry>& entries);

}  // namespace paritas
