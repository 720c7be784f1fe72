// How often each fault shows, on the plain and the checked executor, in order and under drawn schedules:
// a table for kernels/device/executor.md. device_fault_table [SCHEDULES], 100 unless told. Fails when a right kernel is
// reported or wrong, or the checker misses a wrong one.
#include <cstdio>
#include <cstdlib>

#include "tests/kernels/checker/device_faults.hpp"

namespace tally {
namespace {

struct Seen {
  std::uint64_t in_order = 0, drawn = 0;
};

/// A wrong value or a finding.
Seen seen(const DeviceFault& fault, bool right, ExecutorKind executor, std::uint64_t schedules) {
  const std::vector<float> expected = run_device_fault(fault, true, ExecutorKind::host, 0).out;
  Seen all;
  for (std::uint64_t seed = 0; seed <= schedules; ++seed) {
    const DeviceFaultRun run = run_device_fault(fault, right, executor, seed);
    const bool caught = !run.finding.empty() || run.out != expected;
    (seed == 0 ? all.in_order : all.drawn) += caught;
  }
  return all;
}

int print_table(std::uint64_t schedules) {
  int missed = 0;
  std::uint64_t false_alarms = 0;
  std::printf("| fault | plain, in order | plain, %llu drawn | checked, in order | checked, %llu drawn |\n",
              static_cast<unsigned long long>(schedules), static_cast<unsigned long long>(schedules));
  std::printf("|---|---|---|---|---|\n");
  for (const DeviceFault& fault : device_faults()) {
    const Seen plain = seen(fault, false, ExecutorKind::host, schedules);
    const Seen checked = seen(fault, false, ExecutorKind::checked, schedules);
    for (const ExecutorKind executor : {ExecutorKind::host, ExecutorKind::checked}) {
      const Seen right = seen(fault, true, executor, schedules);
      false_alarms += right.in_order + right.drawn;
    }
    missed += checked.in_order != 1 || checked.drawn != schedules;
    std::printf("| %s | %s | %llu | %s | %llu |\n", fault.what.c_str(), plain.in_order ? "yes" : "no",
                static_cast<unsigned long long>(plain.drawn), checked.in_order ? "yes" : "no",
                static_cast<unsigned long long>(checked.drawn));
  }
  std::printf("\nright kernels: %llu reports or wrong values in %llu runs\n",
              static_cast<unsigned long long>(false_alarms), 2ULL * (schedules + 1) * device_faults().size());
  return missed == 0 && false_alarms == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tally

int main(int count, char** arguments) {
  if (!tally::built_with_checks()) {
    std::puts("built without the checked executor");
    return 77;
  }
  return tally::print_table(count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 100);
}
