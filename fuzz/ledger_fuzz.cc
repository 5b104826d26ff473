// Any bytes as a ledger: every line is an entry that comes back as it was, empty, or told as damaged.
#include "fuzz/memory_file.h"
#include "paritas/ledger/ledger_view.h"

using namespace paritas;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Ledger ledger = parse_ledger(text);
  size_t lines = 0, empty = 0;
  for (size_t at = 0; at < text.size(); ++lines) {
    const size_t end = std::min(text.find('\n', at), text.size());
    empty += end == at;
    at = end + 1;
  }
  require(ledger.entries.size() + ledger.damaged.size() <= lines - empty);
  if (ledger.damaged.size() <= 1000) require(ledger.entries.size() + ledger.damaged.size() == lines - empty);
  for (const LedgerEntry& entry : ledger.entries) {
    const std::string line = dump_json(to_json(entry), -1);
    const Ledger again = parse_ledger(line);
    require(again.entries.size() == 1);
    require(dump_json(to_json(again.entries.front()), -1) == line);
  }
  const LedgerView view = view_of(ledger.entries, "");
  size_t shown = 0;
  for (const LedgerModel& model : view.models)
    for (const LedgerChange& change : model.changes)
      for (const LedgerExperiment& experiment : change.experiments) shown += experiment.runs.size();
  require(shown == ledger.entries.size());
  return 0;
}
