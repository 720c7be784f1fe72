// The program `tally`: reads the arguments and turns every exception into one message and an exit code.
#include <malloc.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>

#include "kernels/device/device.hpp"
#include "kernels/subjects/process/step_limits.hpp"
#include "kernels/trace/trace_findings.hpp"
#include "oracle/case/io.hpp"
#include "oracle/exact/answer.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/part.hpp"
#include "reports/text/text.hpp"

namespace tally::command_line {
namespace {

int say(const std::exception& problem, int code) {
  std::cerr << "error: " << message_line(problem.what()) << "\n";
  return code;
}

/// Everything that is wrong with a trace, a line each, the first as of any input.
int say_all(const InvalidTrace& problem) {
  say(problem, usage);
  for (const std::string& line : problem.further()) std::cerr << "  " << message_line(line) << "\n";
  return usage;
}

char** arguments = nullptr;  // of main

/// The larger program goes on where it stands beside this one. The launcher would rather build it first.
int hand_over_or_say(const BeyondThisPart& problem) {
  if (std::getenv("TALLY_PARTS") != nullptr) return problem.where == Part::lab ? of_the_lab : of_verify;
  const std::string refused = hand_over(problem.where, arguments);
  return refused.empty() ? say(problem, usage) : say(std::runtime_error(refused), environment);
}

/// Runs the chosen command; every kind of trouble has its exit code.
int run_action(const Action& action) {
  try {
    return action();
  } catch (const BeyondThisPart& problem) {
    return hand_over_or_say(problem);
  } catch (const StepInterrupted& problem) {
    return say(problem, interrupted);
  } catch (const DeviceAbsent& problem) {
    return say(problem, absent);
  } catch (const InvalidCase& problem) {
    return say(problem, usage);
  } catch (const InvalidTrace& problem) {
    return say_all(problem);
  } catch (const UsageError& problem) {
    return say(problem, usage);
  } catch (const std::invalid_argument& problem) {
    return say(problem, usage);
  } catch (const std::bad_alloc&) {
    return say(std::runtime_error("the memory does not suffice; expected a smaller input, or more memory"),
               environment);
  } catch (const oracle::NotCertified& problem) {  // the input's, on any machine: no precision decides it
    return say(problem, usage);
  } catch (const std::exception& problem) {
    return say(problem, environment);
  }
}

/// A full disk behind standard output is found when it is written, at the latest here.
int when_written(int code) {
  if (std::cout.flush() && std::fflush(stdout) == 0) return code;
  std::cerr << "error: standard output cannot be written; expected room for what the command prints\n";
  return environment;
}

/// Run, and all of its output written.
int finished(const Action& action) { return when_written(run_action(action)); }

int run_chosen(const Chosen& chosen) {
  if (!chosen.command->around) return finished(chosen.action);
  return finished([&chosen] { return chosen.command->around([&chosen] { return finished(chosen.action); }); });
}

/// What no option and no command takes: an empty word is no value, and an unknown command is named.
void require_words(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i].empty() || words[i].ends_with('='))
      throw UsageError("argument " + std::to_string(i + 1) + (i == 0 ? "" : ", behind " + words[i - 1]) +
                       ": found nothing, expected a value");
  if (words.empty() || words.front().starts_with("-")) return;
  require_within_this_part(words.front());
  const std::vector<std::string> names = command_names();
  if (std::find(names.begin(), names.end(), words.front()) != names.end()) return;
  if (words.front() == "test")
    throw UsageError("test: found in no program; in a checkout of Tally, ./tally test builds everything and tests it");
  throw UsageError("'" + words.front() + "' is no command; did you mean " +
                   nearest_names(words.front(), names, 1).front() + "? --help lists them");
}

/// Ends the program as it stands: everything is written, and its tables need not be taken down.
[[noreturn]] void leave(int code) {
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
  std::_Exit(code);
}

/// A record that is refused before main(), such as a kernel that is there already, is an error like others. Nothing that
/// a program sets up before main() can be relied on yet.
[[noreturn]] void refuse_start() {
  try {
    if (const auto problem = std::current_exception()) std::rethrow_exception(problem);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "error: %s\n", problem.what());
    std::_Exit(usage);
  }
  std::abort();
}

/// Verdicts come and go by the million: memory of theirs is kept, not given back and asked for again page by page.
void keep_freed_memory() {
  constexpr int mib = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, 32 * mib);
  mallopt(M_TRIM_THRESHOLD, 256 * mib);
  mallopt(M_TOP_PAD, 16 * mib);
}

/// Before every record is made.
[[gnu::init_priority(101)]] const struct BeforeMain {
  std::terminate_handler own = std::set_terminate(refuse_start);
} before_main;

}  // namespace
}  // namespace tally::command_line

int main(int argc, char** argv) {
  using namespace tally::command_line;
  std::set_terminate(before_main.own);
  keep_freed_memory();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of the write, not the end of the program
  arguments = argv;
  const auto require_start = [&] {
    for (const PartRecord* each : tally::all_records<PartRecord>())
      if (each->requirement != nullptr) each->requirement();
    return require_words({argv + 1, argv + argc}), pass;
  };
  if (const int code = run_action(require_start); code != pass) return code;
  Chosen chosen;
  const auto parser = parser_of_commands(chosen);
  const VisibleOutput shown;
  try {
    parser->parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    std::ostringstream said;
    const bool asked = parser->exit(problem, std::cout, said) == 0;
    std::cerr << tally::visible(said.str());
    return asked ? pass : usage;
  }
  leave(run_chosen(chosen));
}
