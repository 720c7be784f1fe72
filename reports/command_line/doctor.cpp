// `tally doctor`: what there is to run on.
#include <iostream>
#include <utility>

#include "kernels/device/device.hpp"
#include "properties/faults/fault.hpp"
#include "properties/laws/law.hpp"
#include "reports/command_line/commands.hpp"
#include "reports/command_line/subject.hpp"

namespace tally::command_line {

int doctor() {
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
  return pass;
}

}  // namespace tally::command_line
