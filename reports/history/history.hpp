// What earlier runs came to, one line each, in the order in which they were added: a file that only grows. It does not
// depend on how pages or results look later.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/gate/baseline.hpp"
#include "reports/record/files.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// All cases of a run in one precision.
struct PrecisionHistory {
  std::string precision;
  std::uint64_t cases = 0, failed = 0;
  double worst_ratio = 0, median_ratio = 0;  // of the judged ones; 0 where there is none
};

struct HistoryEntry {
  int schema = 1;
  std::string commit;  // empty: not recorded
  Machine machine;
  Drawn drawn;
  Status verdict = Status::pass;
  std::vector<PrecisionHistory> precisions;  // widest first
};

HistoryEntry history_entry_of(const Results& results, const std::string& commit = "");

/// One line, with its end.
std::string to_json_line(const HistoryEntry& entry);
/// Throws std::runtime_error with name, line, place, value found and what was expected; a last line without an end was
/// cut off, and is refused too.
std::vector<HistoryEntry> history_of_lines(std::string_view lines, const std::string& name = "history");
std::vector<HistoryEntry> read_history(const std::string& file);

/// Whether the entry was added: what stands there already, to the bit, is not added again. Makes the file if there is
/// none; otherwise its bytes stay, and one line follows, whoever else adds lines at the same time. Throws
/// std::runtime_error, with the file untouched, if it is damaged; NotWritten where it cannot be written.
bool append(const HistoryEntry& entry, const std::string& file);

/// A table for a terminal.
std::string history_text(const std::vector<HistoryEntry>& history);

}  // namespace tally
