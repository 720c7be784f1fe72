// Suspect of the running values that ranks begin a window with.
#include <string>
#include <string_view>

#include "properties/diagnosis/suspect.hpp"

namespace tally::running_of_ranks_suspect {
namespace {

/// What this rank held of it before the window: what its last micro-batch moved, or what it began an earlier one with.
std::optional<Values> held_before(const Evidence& evidence, int window, const std::string& tensor) {
  for (int earlier = window - 1; earlier >= 0; --earlier) {
    const int last = evidence.micro_batches(earlier) - 1;
    const std::string name = last < 0 ? "broadcast." + tensor : tensor;
    if (auto left = evidence.tap(earlier, last, "running_stats", name)) return left;
  }
  return std::nullopt;
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  constexpr std::string_view handed = "broadcast.";
  if (held.name.micro_batch >= 0 || !held.name.tensor.starts_with(handed)) return std::nullopt;
  return held_before(evidence, held.name.window, held.name.tensor.substr(handed.size()));
}

const RegisterSuspect registered{{
    .name = "buffers-not-synchronised",
    .faults = {"buffers-not-synchronised"},
    .stages = {"running_stats"},
    .sentence = "a rank keeps the running values that its own micro-batches moved, and not the first rank's",
    .formula = "r_rank = what it left itself",
    .remedy = "broadcast the running values from rank 0 at every window (DDP: `broadcast_buffers=True`)",
    .left = left,
}};

}  // namespace
}  // namespace tally::running_of_ranks_suspect
