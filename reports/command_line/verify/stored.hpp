// What earlier runs left, read from files. Throws UsageError naming the file and what was expected.
#pragma once

#include <string>

#include "reports/command_line/check/stored_results.hpp"
#include "reports/gate/baseline.hpp"
#include "reports/gate/waivers.hpp"
#include "reports/history/history.hpp"
#include "reports/record/record.hpp"

namespace tally::command_line {

Baseline baseline_at(const std::string& file);
std::vector<Waiver> waivers_at(const std::string& file);
/// The entries of a history (.jsonl), or of one results.json.
std::vector<HistoryEntry> history_at(const std::string& file);

}  // namespace tally::command_line
