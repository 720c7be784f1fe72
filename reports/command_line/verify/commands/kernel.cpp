// `tally kernel`: one kernel under every law, on the host and again with every access to memory watched.
#include <filesystem>
#include <iostream>

#include "kernels/device/device.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/run_facts.hpp"
#include "reports/command_line/verify/subject.hpp"

namespace tally::command_line::kernel_command {
namespace {

struct KernelOptions {
  std::string kernel, out = defaults::kernel_out;  // OPERATION=VARIANT
  double effort = defaults::effort;                // the watched run takes a part of it
  int processes = defaults::processes;
};

/// The watched run takes some twenty times as long a case.
constexpr double checked_share = 0.05;

int run_on(const std::string& subject, const KernelOptions& options, double effort) {
  VerifyOptions campaign;
  campaign.subject.subject = subject, campaign.subject.kernels = {options.kernel};
  campaign.out = (std::filesystem::path(options.out) / subject).string();
  campaign.effort = effort, campaign.processes = options.processes, campaign.no_training = true;
  std::cout << "\n" << options.kernel << " on " << subject << ", effort " << effort << "\n";
  return verify(campaign);
}

const char* word_of_exit(int code) {
  return code == pass     ? "pass"
         : code == failed ? "fail"
         : code == absent ? "not run, as no build with the race checker is here"
                          : "no verdict";
}

/// Both runs in a sentence, the last line.
int judged(const KernelOptions& options, int on_host, int checked) {
  const int code = on_host != pass ? on_host : checked;
  std::cout << "\n"
            << (code == pass     ? "PASS  "
                : code == failed ? "FAIL  "
                                 : "NO VERDICT  ")
            << options.kernel << ": on the host " << word_of_exit(on_host) << ", watched for races "
            << word_of_exit(checked) << "; pages in " << options.out << "\n";
  return code;
}

int kernel(const KernelOptions& options) {
  const auto equals = options.kernel.find('=');
  const std::string variant = equals == std::string::npos ? "" : options.kernel.substr(equals + 1);
  const std::string file = file_of(options.kernel.substr(0, equals), variant);
  if (!file.empty()) std::cout << file << "\n";
  const double effort = effort_of(options.effort);
  const int on_host = run_on("host", options, effort);
  try {
    const int checked = run_on("checked", options, effort * checked_share);
    return judged(options, on_host, checked);
  } catch (const DeviceAbsent& reason) {
    std::cerr << "error: no access to memory was watched: " << reason.what() << "\n";
    return judged(options, on_host, absent);
  }
}

void add_options(CLI::App& command, KernelOptions& options) {
  command.add_option("kernel", options.kernel, "OPERATION=VARIANT (./tally list kernels)")->required();
  add_effort(command, options.effort);
  add_out(command, options.out, "folder for the results of both");
  add_processes(command, options.processes);
}

const RegisterCommand registered{{
    .place = 110,
    .name = "kernel",
    .help = "one kernel under every law, on the host and again with its accesses to memory watched",
    .bind = with_options(add_options, kernel),
}};

}  // namespace
}  // namespace tally::command_line::kernel_command
