#include "reports/command_line/verify/own_step_subject.hpp"

#include <sys/utsname.h>

#include <deque>
#include <memory>

#include "kernels/subjects/plugin/library_step.hpp"
#include "kernels/subjects/process/process_step.hpp"
#include "kernels/training_step/stages.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/exit_codes.hpp"

namespace tally::command_line {
namespace {

constexpr std::string_view library = "step:", command = "exec:";

std::string behind(std::string_view prefix, const std::string& subject) {
  std::string rest = subject.substr(prefix.size());
  if (rest.find_first_not_of(' ') == std::string::npos)
    throw UsageError("--subject: '" + subject + "' names nothing; expected " +
                     (prefix == library ? "step:LIBRARY, a shared library" : "exec:COMMAND, a command line"));
  return rest;
}

std::unique_ptr<OwnStep> started(const SubjectOptions& options) {
  const StepLimits limits = step_limits_of(options);
  if (options.subject.starts_with(command)) {
    if (options.in_process) throw UsageError("--in-process: a command has a process; expected --subject step:LIBRARY");
    return std::make_unique<ProcessStep>(options.subject, command_body(behind(command, options.subject)), limits);
  }
  const std::string path = behind(library, options.subject);
  if (options.in_process) return std::make_unique<LibraryStep>(path);
  return std::make_unique<ProcessStep>(options.subject, library_body(path), limits);
}

}  // namespace

bool is_own_step(const std::string& subject) { return subject.starts_with(library) || subject.starts_with(command); }

StepLimits step_limits_of(const SubjectOptions& options) {
  StepLimits limits;
  limits.bytes = bytes_of_words(options.step_memory, "--step-memory");
  limits.interrupted = options.interrupted;
  if (options.case_seconds > 0) limits.seconds = options.case_seconds;
  return limits;
}

RunOptions with_own_step(std::unique_ptr<OwnStep> step) {
  static std::deque<std::pair<std::unique_ptr<OwnStep>, Stages>> all;
  all.emplace_back(std::move(step), shipped_stages());
  all.back().second.own = all.back().first.get();
  RunOptions subject;
  subject.stages = &all.back().second;
  return subject;
}

void require_no_kernels(const SubjectOptions& options) {
  const std::string subject = options.subject.empty() ? options.ranks : options.subject;
  if (!options.fault.empty())
    throw UsageError("--fault: a fault is planted in Tally's own training step; the subject is '" + subject + "'");
  if (!options.kernels.empty())
    throw UsageError("--kernel: a kernel runs in Tally's own training step; the subject is '" + subject + "'");
  plant_at(options.magnitude, {});
}

RunOptions own_step_subject(const SubjectOptions& options) {
  require_no_kernels(options);
  return with_own_step(started(options));
}

Environment environment_of_own_step(Environment environment, const SubjectOptions& options) {
  utsname system{};
  uname(&system);
  environment.executor = options.subject.empty() ? options.ranks : options.subject;
  environment.device = std::string(system.sysname) + " " + system.machine +
                       (options.in_process ? ", in Tally's process" : ", in a process of its own");
  environment.blas = "the subject's own";
  return environment;
}

std::uint64_t bytes_of_words(const std::string& text, const std::string& option) {
  const std::string units = "KMGT";
  const auto unit = text.empty() ? std::string::npos : units.find(text.back());
  const std::string number = unit == std::string::npos ? text : text.substr(0, text.size() - 1);
  const std::string expected = "bytes such as 512M or 4G, at most 1024T";
  double bytes = number_of(number, option, expected);
  if (unit != std::string::npos) bytes *= static_cast<double>(std::uint64_t{1} << (10 * (unit + 1)));
  if (!(bytes >= 1 && bytes <= 0x1p50)) throw UsageError(option + ": '" + text + "'; expected " + expected);
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace tally::command_line
