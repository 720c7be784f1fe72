#include "reports/command_line/verify/baseline_options.hpp"

namespace tally::command_line {

void add_baseline(CLI::App& command, std::string& baseline) {
  command.add_option("baseline", baseline, "baseline file")->required();
}

void add_results_and_baseline(CLI::App& command, std::string& results, std::string& baseline) {
  command
      .add_option("results", results,
                  "results.json of a run; of bless and review also the pending.json that the gate left")
      ->required();
  command.add_option("--baseline", baseline, "baseline file")->required();
}

void add_filters(CLI::App& command, std::string& law, std::string& precision) {
  command.add_option("--law", law, "laws, as a shell pattern")->capture_default_str();
  command.add_option("--precision", precision, "storage formats, as a shell pattern")->capture_default_str();
}

}  // namespace tally::command_line
