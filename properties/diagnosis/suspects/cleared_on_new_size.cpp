// Buffers start anew when a micro-batch has another size.
#include <algorithm>

#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

/// Whether two neighbours are of one size somewhere: else nothing shows that the size matters.
bool has_equal_neighbours(const Evidence& evidence) {
  for (const auto& sizes : evidence.c.windows) {
    if (std::adjacent_find(sizes.begin(), sizes.end()) != sizes.end()) return true;
  }
  return false;
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const int w = held.name.window, k = held.name.micro_batch;
  if (parameter_in(evidence, held, "in.buffer.").empty() || k <= 0) return std::nullopt;
  if (evidence.rows(w, k) == evidence.rows(w, k - 1) || !has_equal_neighbours(evidence)) return std::nullopt;
  return Values(held.expected.size(), 0.0);
}

const RegisterSuspect registered{{
    .name = "cleared-on-new-size",
    .faults = {"buffer-rebuilt-on-new-shape"},
    .stages = {"accumulate"},
    .sentence = "the buffer starts anew whenever a micro-batch has another size than the one before",
    .formula = "A = 0 where the sizes differ",
    .left = left,
}};

}  // namespace
}  // namespace tally
