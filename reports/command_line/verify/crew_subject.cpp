#include "reports/command_line/verify/crew_subject.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "kernels/ranks/nccl_link.hpp"
#include "kernels/subjects/process/process_step.hpp"
#include "reports/command_line/exit_codes.hpp"
#include "reports/command_line/verify/crew_account.hpp"
#include "reports/command_line/verify/crew_board.hpp"
#include "reports/command_line/verify/mpi_launch.hpp"
#include "reports/command_line/verify/own_step_subject.hpp"

namespace tally::command_line {
namespace {

constexpr double longest_wait = 30;  // seconds that a rank waits for another

/// Holds the board of the crew that runs; each crew has one of its own.
class CrewWitness : public StepWitness {
 public:
  CrewWitness(int ranks, std::string launcher) : ranks_(ranks), launcher_(std::move(launcher)) {}
  void begin() override {
    board_.reset();
    path_ = board_.emplace(ranks_).path();
  }
  StepFailed failure(const std::optional<GuardedProcess::Ended>& ended, const std::string& limit) const override {
    return failure_of_crew(*board_, launcher_, ended, limit);
  }
  /// As the process that began it names it.
  const std::string& path() const { return path_; }

 private:
  const int ranks_;
  const std::string launcher_;
  std::optional<CrewBoard> board_;
  std::string path_;
};

}  // namespace

RunOptions crew_subject(const SubjectOptions& options, int ranks) {
  if (!options.subject.empty() && options.subject != "host")
    throw UsageError("--ranks: a crew's ranks run on the host; the subject is '" + options.subject + "'");
  require_no_kernels(options);
  const bool by_nccl = adds_by_nccl(options.ranks);
  if (by_nccl) nccl_version();
  const Launch launch = crew_launch(ranks, options.launcher, options.allow_root);
  const StepLimits limits = step_limits_of(options);
  // A rank that waits says so before the whole case's time is over.
  const std::string command = launch.command + (by_nccl ? " --nccl" : "") + " --wait " +
                              std::to_string(std::min(longest_wait, limits.seconds / 2));
  auto witness = std::make_shared<CrewWitness>(ranks, launch.launcher);
  const auto body = [command, witness](int in, int out) {
    command_body(command + " --board " + witness->path())(in, out);
  };
  return with_own_step(std::make_unique<ProcessStep>(options.ranks, body, limits, witness));
}

}  // namespace tally::command_line
