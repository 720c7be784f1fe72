// `tally list`: what there is.
#include <iostream>

#include "kernels/device/kernel_registry.hpp"
#include "properties/faults/fault.hpp"
#include "properties/laws/law.hpp"
#include "properties/studies/study.hpp"
#include "properties/triggers/reach.hpp"
#include "properties/triggers/trigger.hpp"
#include "reports/command_line/commands.hpp"

namespace tally::command_line {

int list(const std::string& what) {
  if (what == "laws") {
    for (const Law* law : laws()) std::cout << law->name << "  [" << law->family << "]  " << law->statement << "\n";
  } else if (what == "faults") {
    for (const Fault* fault : tally::faults()) {
      std::cout << fault->name << "  [" << fault->stage << "]  " << fault->right << "  ->  " << fault->wrong
                << "  (knob: " << fault->knob << ")\n";
    }
  } else if (what == "triggers") {
    for (const Trigger& t : triggers()) {
      std::cout << t.group << ": " << t.name << "  [" << word_of(t.kind) << "]  " << t.description << "\n";
    }
  } else if (what == "options") {
    for (const TriggerRecord& record : records_to_reach(ExecutorKind::host))
      if (record.kind == "option") std::cout << record.name << "\n";
  } else if (what == "paths") {
    for (const LaunchPath& path : launch_paths_of(ExecutorKind::host)) {
      std::cout << name_of_path(path)
                << (path.out_of_reach.empty() ? "" : "  [out of reach: " + path.out_of_reach + "]") << "\n";
    }
  } else if (what == "kernels") {
    for (const RegisteredKernel* kernel : registered_kernels()) {
      if (kernel->claim.variant.starts_with('~')) continue;  // a seeded fault's
      std::cout << kernel->operation << "/" << kernel->claim.variant << " on " << name_of(kernel->executor) << "\n";
    }
  } else if (what == "sweeps" || what == "benches") {
    for (const StudyRunner* study : studies(what == "sweeps" ? "sweep" : "bench")) {
      std::cout << study->name << "  " << study->question << "\n";
    }
  } else {
    std::cout << "host  the kernels on the host executor\n";
    std::cout << "cuda  the kernels on a GPU\n";
    std::cout << "checked  the kernels on the host, every access to memory watched for races\n";
  }
  return pass;
}

}  // namespace tally::command_line
