// `tally compare`: two stored runs, case by case.
#include <algorithm>
#include <filesystem>
#include <future>
#include <iostream>

#include "reports/command_line/commands.hpp"
#include "reports/command_line/kernel_file.hpp"
#include "reports/command_line/run_words.hpp"
#include "reports/command_line/stored.hpp"
#include "reports/compare/kernel_changes.hpp"

namespace tally::command_line {
namespace {

std::string results_at(const std::string& given) {
  const std::filesystem::path path(given);
  return (std::filesystem::is_directory(path) ? path / "results.json" : path).string();
}

}  // namespace

int compare(const CompareOptions& options) {
  if (!options.out.empty()) require_replaceable(options.out, {"summary.md"});
  auto before = std::async(std::launch::async, [&] { return results_of(results_at(options.before)); });
  const Results now = results_of(results_at(options.now));
  const Comparison found = compared(before.get(), now);
  std::cout << comparison_text(found, {file_of, options.all});
  if (!options.out.empty()) {
    require_writable(options.out);
    write_atomically((std::filesystem::path(options.out) / "summary.md").string(),
                     comparison_markdown(found, markdown_limit, file_of));
  }
  if (found.cases == 0) return nothing_ran;
  return is_worse(found) ? failed : pass;
}

}  // namespace tally::command_line
