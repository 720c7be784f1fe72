// What the ranks of a case sent each other, as they counted it.
// Defined in bytes_sent.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/ranks/traffic.hpp"
#include "kernels/training_step/run.hpp"
#include "oracle/case/case.hpp"

namespace tally {

/// By one process in a window, about one stage; 0 where it sent nothing.
std::uint64_t bytes_sent(const TrafficScope& scope, std::size_t process, int window, const std::string& stage);
/// By all processes in a run of the case, whatever about.
std::uint64_t all_bytes_sent(const Case& c, const RunOptions& subject);

}  // namespace tally
