// Running a small kernel in a test, and the text of what the executor found in it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/device/executor/launch.hpp"
#include "kernels/device/launch.hpp"

namespace tally {

/// Schedule seeds to try: in order, and so many drawn ones.
inline std::vector<std::uint64_t> schedules(std::uint64_t drawn) {
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed <= drawn; ++seed) seeds.push_back(seed);
  return seeds;
}

template <auto kernel, class... Arguments>
void run_on_host(const LaunchShape& shape, std::uint64_t schedule_seed, Arguments&&... arguments) {
  Stream stream(device(ExecutorKind::host));
  stream.set_schedule_seed(schedule_seed);
  launch<kernel>(stream, shape, std::forward<Arguments>(arguments)...);
}

/// What the executor reports about the kernel, or "nothing found".
template <auto kernel, class... Arguments>
std::string finding_in(const LaunchShape& shape, std::uint64_t schedule_seed, Arguments&&... arguments) {
  try {
    run_on_host<kernel>(shape, schedule_seed, std::forward<Arguments>(arguments)...);
  } catch (const ExecutorFinding& finding) {
    return finding.what();
  }
  return "nothing found";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace tally
