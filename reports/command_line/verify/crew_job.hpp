// What a crew trains together at a time, as it goes from the first rank to the others, and what each of them leaves.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/ranks/link.hpp"
#include "kernels/training_step/checkpoint.hpp"
#include "oracle/case/case.hpp"

namespace tally::command_line {

/// A case, or a generation of one whose number of ranks changes, with what the generation before it wrote down.
struct CrewJob {
  Case c;
  std::string hash;  // of the case, as its parent says
  std::size_t generation = 0;
  Checkpoint before;
};

/// Never empty.
std::string packed(const CrewJob& job);
/// Throws std::runtime_error for a text that packed() did not make.
CrewJob unpacked_job(const std::string& text);

/// How many processes train any generation of a case at most.
std::size_t processes_at_most(const Case& c);

/// What one process leaves: its trace as flat bytes and what it wrote down for the next generation, or why it has none.
struct CrewPart {
  std::string trace;
  Checkpoint after;
  std::string why;
};

std::string packed(const CrewPart& part);
CrewPart unpacked_part(const std::string& text);

/// Trains as one of the first processes of the link, as many as the job's generation has. Throws HungLink.
CrewPart trained(Link& link, const CrewJob& job);
/// The generation's.
std::size_t processes_of(const CrewJob& job);

}  // namespace tally::command_line
