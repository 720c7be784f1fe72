#include "reports/command_line/verify/stored.hpp"

#include "reports/command_line/exit_codes.hpp"

namespace tally::command_line {
namespace {

/// What `read` returns; its complaint names the file already.
template <class Read>
auto parsed_there(Read read) {
  try {
    return read();
  } catch (const std::runtime_error& problem) {
    throw UsageError(problem.what());
  }
}

}  // namespace

Baseline baseline_at(const std::string& file) {
  return parsed_there([&] { return read_baseline(file); });
}

std::vector<HistoryEntry> history_at(const std::string& file) {
  if (!file.ends_with(".jsonl")) return {history_entry_of(results_of(file))};
  return parsed_there([&] { return read_history(file); });
}

std::vector<Waiver> waivers_at(const std::string& file) {
  return parsed_there([&] { return read_waivers(file); });
}

}  // namespace tally::command_line
