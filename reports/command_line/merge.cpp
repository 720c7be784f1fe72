// `tally merge`: the results of all shards as one report.
#include "reports/merge/merge.hpp"

#include <filesystem>
#include <iostream>

#include "properties/digits/training.hpp"
#include "reports/command_line/commands.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/run_words.hpp"
#include "reports/command_line/stored.hpp"
#include "reports/report.hpp"

namespace tally::command_line {
namespace {

namespace fs = std::filesystem;

Results results_at(const fs::path& given) {
  return results_of((fs::is_directory(given) ? given / "results.json" : given).string());
}

/// Failing cases that the shards kept: their names are of law and case, so that none hides another.
void copy_corpus(const fs::path& given, const fs::path& out) {
  const fs::path folder = (fs::is_directory(given) ? given : given.parent_path()) / "corpus";
  if (!fs::is_directory(folder)) return;
  fs::create_directories(out / "corpus");
  for (const auto& entry : fs::directory_iterator(folder)) {
    fs::copy_file(entry.path(), out / "corpus" / entry.path().filename(), fs::copy_options::overwrite_existing);
  }
}

}  // namespace

int merge(const MergeOptions& options) {
  require_writable(options.out);
  std::vector<Results> shards;
  for (const std::string& given : options.shards) shards.push_back(results_at(given));
  std::vector<std::pair<std::string, std::string>> trainings;
  for (const TrainingProblem& problem : training_problems()) trainings.emplace_back(problem.dataset, problem.model);
  Results whole;
  try {
    whole = merged(std::move(shards), trainings);
  } catch (const std::runtime_error& problem) {
    std::cerr << "error: INCOMPLETE: " << message_line(problem.what()) << "\n";
    return nothing_ran;
  } catch (const std::invalid_argument& problem) {
    std::cerr << "error: INCOMPLETE: " << message_line(problem.what()) << "\n";
    return nothing_ran;
  }
  for (const std::string& given : options.shards) copy_corpus(given, options.out);
  write_report(whole, options.out);
  std::cout << terminal_summary(whole) << "report: " << (fs::path(options.out) / "report.html").string() << "\n";
  if (whole.partial) std::cerr << "error: INCOMPLETE: " << message_line(whole.partial_reason) << "\n";
  return exit_code_of(whole);
}

}  // namespace tally::command_line
