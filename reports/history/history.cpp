#include "reports/history/history.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "reports/census/census.hpp"
#include "reports/gate/baseline_fields.hpp"
#include "reports/record/files.hpp"
#include "reports/record/json.hpp"
#include "reports/text/stored_text.hpp"
#include "reports/text/text.hpp"

namespace tally {
namespace {

PrecisionHistory precision_of(const Results& results, const std::string& precision) {
  PrecisionHistory found{precision, 0, 0, 0, 0};
  std::vector<double> ratios;
  for (const CaseRecord& c : results.cases) {
    if (c.precision != precision) continue;
    ++found.cases;
    found.failed += c.status == Status::fail || c.status == Status::error;
    if (was_judged(c.status)) ratios.push_back(ratio_of(c));
  }
  if (!ratios.empty()) found.worst_ratio = worst_of(ratios), found.median_ratio = median_of(ratios);
  return found;
}

}  // namespace

HistoryEntry history_entry_of(const Results& results, const std::string& commit) {
  HistoryEntry entry{1, commit, machine_of(results), drawn_of(results), verdict_of(results), {}};
  for (const std::string& precision : precisions_of(results))
    entry.precisions.push_back(precision_of(results, precision));
  return entry;
}

std::string to_json_line(const HistoryEntry& entry) {
  std::string text = canonical_text(nlohmann::json::array({nlohmann::json::array({JsonWriter::json_of(entry)})}));
  const auto from = text.find('{'), to = text.rfind('}');
  return text.substr(from, to + 1 - from) + "\n";
}

std::vector<HistoryEntry> history_of_lines(std::string_view lines, const std::string& name) {
  std::vector<HistoryEntry> history;
  for (std::size_t from = 0; from < lines.size();) {
    const std::string place = name + ":" + std::to_string(history.size() + 1);
    const std::size_t end = lines.find('\n', from);
    if (end == std::string_view::npos)
      throw std::runtime_error(place + ": found a line without an end, expected a whole one: it was cut off");
    history.push_back(record_of_json<HistoryEntry>(lines.substr(from, end - from), place, 1));
    from = end + 1;
  }
  return history;
}

std::vector<HistoryEntry> read_history(const std::string& file) { return history_of_lines(stored_text(file), file); }

bool append(const HistoryEntry& entry, const std::string& file) {
  const FolderLock alone(file);
  const std::string before = std::filesystem::exists(file) ? stored_text(file) : "", line = to_json_line(entry);
  for (const HistoryEntry& old : history_of_lines(before, file))
    if (to_json_line(old) == line) return false;
  try {
    write_atomically(file, before + line);
  } catch (const std::runtime_error& problem) {
    throw NotWritten(problem.what());
  }
  return true;
}

std::string history_text(const std::vector<HistoryEntry>& history) {
  std::vector<std::vector<std::string>> rows{
      {">Run", "Commit", "Verdict", "Precision", ">Cases", ">Failed", ">Median r", ">Worst r", "Machine"}};
  for (std::size_t i = 0; i < history.size(); ++i)
    for (const PrecisionHistory& p : history[i].precisions) {
      const Machine& machine = history[i].machine;
      rows.push_back({std::to_string(i + 1), history[i].commit, std::string(word_of(history[i].verdict)), p.precision,
                      grouped(p.cases), grouped(p.failed), significant(p.median_ratio), significant(p.worst_ratio),
                      machine.device.empty() ? machine.executor : machine.device});
    }
  return columns(rows);
}

}  // namespace tally
