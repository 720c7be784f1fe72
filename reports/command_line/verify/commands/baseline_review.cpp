// `tally baseline review`: what could be blessed and the commands for it; with a reason every law and precision that
// changed, one by one, on a terminal.
#include <unistd.h>

#include <iostream>
#include <set>

#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/baseline.hpp"
#include "reports/gate/bless.hpp"
#include "reports/text/text.hpp"

namespace tally::command_line::baseline_review_command {
namespace {

constexpr const char* help =
    "a accept   r reject   s skip: decide later   A accept this and the rest   R reject this and the rest   ? help\n";

struct Answers {
  std::set<std::pair<std::string, std::string>> accepted;
  std::size_t rejected = 0, skipped = 0;
};

/// 'a', 'r' or 's' once, 'A' or 'R' for good; 's' where the input ends.
char asked(const LawChange& law) {
  std::cout << line_of(law) << "\n";
  for (std::string answer;;) {
    std::cout << "[a/r/s/A/R/?] " << std::flush;
    if (!std::getline(std::cin, answer)) return 's';
    if (answer.size() == 1 && std::string("arsAR").find(answer[0]) != std::string::npos) return answer[0];
    std::cout << help;
  }
}

Answers review(const std::vector<LawChange>& laws) {
  Answers answers;
  char answer = '?';
  for (const LawChange& law : laws) {
    if (!is_changed(law)) continue;
    if (answer != 'A' && answer != 'R') answer = asked(law);
    if (answer == 'a' || answer == 'A') answers.accepted.insert({law.law, law.precision});
    answers.rejected += answer == 'r' || answer == 'R';
    answers.skipped += answer == 's';
  }
  return answers;
}

int baseline_review(const BaselineOptions& options) {
  const Proposal proposal = proposal_of(options);
  if (options.reason.empty()) {
    std::cout << text_of(proposal, options);
    return pass;
  }
  if (!isatty(STDIN_FILENO))
    throw UsageError("baseline review: expected a terminal; without --reason it shows the changes and asks nothing");
  const Answers answers = review(proposal.change.laws);
  tally::BlessOptions how;
  how.reason = options.reason, how.commit = options.commit;
  if (how.commit.empty() && !is_pending(options.results)) how.commit = tree();  // a pending.json knows its own
  const auto take = [&](const CaseEntry& entry) {
    if (answers.accepted.contains({entry.law, entry.precision})) how.cases.push_back(entry.id);
  };
  for (const CaseEntry& entry : proposal.before) take(entry);
  for (const CaseEntry& entry : proposal.now) take(entry);
  try {
    if (!how.cases.empty()) std::cout << options.baseline << ": " << text_of(proposal.bless(how)) << "\n";
  } catch (const NotWritten&) {
    throw;
  } catch (const std::runtime_error& problem) {
    throw UsageError(problem.what());
  }
  std::cout << grouped(answers.accepted.size()) << " accepted, " << grouped(answers.rejected) << " rejected, "
            << grouped(answers.skipped) << " skipped; see: git diff --stat " << options.baseline << "\n";
  return answers.rejected > 0 ? failed : pass;
}

void add_options(CLI::App& command, BaselineOptions& options) {
  add_results_and_baseline(command, options.results, options.baseline);
  command.add_option("--reason", options.reason, "why the accepted changes are right (default: show them alone)");
  command.add_option("--commit", options.commit, "commit of the run (default: this program's)");
}

const RegisterCommand registered{{
    .place = 224,
    .name = "baseline review",
    .help = "show what could be blessed; with a reason accept or reject it on a terminal",
    .bind = with_options(add_options, baseline_review),
}};

}  // namespace
}  // namespace tally::command_line::baseline_review_command
