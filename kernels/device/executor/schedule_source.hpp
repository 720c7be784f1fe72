// What a launch takes its schedule from: nothing (threads run in order), a seed, or a list.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/case/preemption.hpp"

namespace tally::executor {

struct ScheduleSource {
  std::uint64_t seed = 0;                           // of this launch; 0: not drawn
  const std::vector<Preemption>* listed = nullptr;  // nullptr: no list
  std::uint64_t launch = 0;                         // this launch's number in the list
  std::vector<Preemption>* recorded = nullptr;      // where choices other than the default are noted, or nullptr
};

}  // namespace tally::executor
