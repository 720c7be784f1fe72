// `tally doctor`: what there is to run on.
#include <iostream>
#include <utility>

#include "kernels/device/device.hpp"
#include "kernels/device/probes.hpp"
#include "properties/faults/fault.hpp"
#include "properties/laws/law.hpp"
#include "reports/command_line/commands.hpp"
#include "reports/command_line/subject.hpp"
#include "reports/text/columns.hpp"

namespace tally::command_line {

namespace {

/// What the subject's GEMM does that no documentation says.
void probe(const std::string& subject) {
  const ExecutorKind executor = subject_of({subject, ""}).executor;
  std::cout << "\nGEMM of " << device(executor).name() << "\n";
  std::vector<std::vector<std::string>> rows = {{"Asked", "Found", "For the bounds"}};
  for (const Probe& each : probes_of(probe_gemm(device(executor))))
    rows.push_back({each.question, each.answer, each.consequence});
  std::cout << columns(rows);
}

}  // namespace

int doctor(const std::string& probed) {
  std::cout << "tally     " TALLY_VERSION "\n";
  std::cout << "compiler  " TALLY_COMPILER ", " TALLY_FLAGS "\n";
  std::cout << "toolkit   " TALLY_CUDA_TOOLKIT "\n";
  std::cout << "host      " << device(ExecutorKind::host).name() << "\n";
  for (const auto& [label, kind] :
       {std::pair{"checked   ", ExecutorKind::checked}, {"cuda      ", ExecutorKind::cuda}}) {
    std::cout << label;
    try {
      std::cout << device(kind).name() << "\n";
    } catch (const DeviceAbsent& reason) {
      std::cout << "not run: " << reason.what() << "\n";
    }
  }
  std::cout << "laws      " << laws().size() << "\n";
  std::cout << "faults    " << tally::faults().size() << "\n";
  if (!probed.empty()) probe(probed);
  return pass;
}

}  // namespace tally::command_line
