#include "reports/command_line/verify/own_process.hpp"

#include <cstdio>
#include <iostream>

#include "properties/campaign/workers.hpp"
#include "reports/command_line/exit_codes.hpp"

namespace tally::command_line {

int in_own_process(const std::function<int()>& command) {
  std::cout.flush();  // not to be printed twice
  const auto run = [&command](std::size_t) { return std::to_string(command()); };
  const auto tell = [](std::size_t, const Death& death) {
    const bool failure = !death.from_outside;
    std::cout << (failure ? "fail" : "error") << ": the process that ran the case was ended by " << death.how
              << std::endl;
    return std::to_string(failure ? failed : environment);
  };
  const std::string answer = run_in_processes(
                                 1, 1, run, [](std::size_t) {}, nullptr, tell)
                                 .front();
  if (!answer.starts_with("crash: ")) return std::stoi(answer);
  std::cerr << "error: " << answer << "\n";
  return environment;
}

}  // namespace tally::command_line
