// `tally vary`: judge a loop that was run with other micro-batches.
#include <filesystem>
#include <iostream>

#include "oracle/case/tensors/regular_file.hpp"
#include "properties/diagnosis/vary/vary_verdict.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/record/files.hpp"
#include "reports/vary/vary_page.hpp"

namespace tally::command_line::vary_command {
namespace {

struct VaryOptions {
  std::string folder, out;
  bool json = false;
};

VaryRuns runs_in(const std::string& folder) {
  constexpr std::size_t most_bytes = std::size_t{1} << 28;
  const std::string file = (std::filesystem::path(folder) / "vary.json").string();
  std::string text;
  try {
    text = RegularFile(file).all(most_bytes);
  } catch (const std::runtime_error& problem) {
    throw UsageError(file + ": " + problem.what() + "; expected what a loop left that was varied");
  }
  try {
    return vary_runs_of(text, file);
  } catch (const std::runtime_error& problem) {
    throw UsageError(problem.what());
  }
}

int exit_of(const VaryReport& report) {
  return report.verdict == "pass" ? pass : report.verdict == "fail" ? failed : nothing_ran;
}

int vary(const VaryOptions& options) {
  const VaryReport report = vary_verdict(runs_in(options.folder));
  if (options.json) print_document(to_json(report));
  if (report.verdict == "error") throw UsageError(report.sentence());
  if (options.json) return exit_of(report);
  std::cout << vary_text(report);
  if (report.verdict == "asks") return exit_of(report);
  const std::string out = options.out.empty() ? options.folder : options.out;
  require_replaceable(out, {"vary.html"});
  require_writable(out);
  write_together({{(std::filesystem::path(out) / "vary.html").string(), vary_html(report)}});
  return exit_of(report);
}

void add_options(CLI::App& command, VaryOptions& options) {
  command.add_option("folder", options.folder, "folder with vary.json, what the loop left")->required();
  command.add_flag("--json", options.json, "print one JSON document, with the runs that are missing, and no page");
  command.add_option("--out", options.out, "folder for vary.html, a page; the same one where none is named");
}

const RegisterCommand registered{{
    .place = 135,
    .name = "vary",
    .help = "judge a loop that was run with other micro-batches",
    .bind = with_options(add_options, vary),
}};

}  // namespace
}  // namespace tally::command_line::vary_command
