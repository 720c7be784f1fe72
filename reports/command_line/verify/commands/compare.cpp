// `tally compare`: two stored runs, case by case.
#include <algorithm>
#include <filesystem>
#include <future>
#include <iostream>

#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/baseline.hpp"
#include "reports/command_line/verify/subject.hpp"
#include "reports/compare/comparison.hpp"

namespace tally::command_line::compare_command {
namespace {

struct CompareOptions {
  std::string before, now;  // results.json of each run, or its folder
  std::string out;          // folder for summary.md; empty: none
  bool all = false;         // every kernel and law, not what fits on a screen
};

std::string results_at(const std::string& given) {
  const std::filesystem::path path(given);
  return (std::filesystem::is_directory(path) ? path / "results.json" : path).string();
}

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

void add_options(CLI::App& command, CompareOptions& options) {
  command.add_option("before", options.before, "results.json of the first, or its folder")->required();
  command.add_option("now", options.now, "results.json of the second, or its folder")->required();
  command.add_option("--out", options.out, "folder for summary.md");
  add_all(command, options.all);
}

const RegisterCommand registered{{
    .place = 230,
    .name = "compare",
    .help = "two runs case by case; exit code 1 where laws break or accuracy is worse in the second",
    .bind = with_options(add_options, compare),
}};

}  // namespace
}  // namespace tally::command_line::compare_command
