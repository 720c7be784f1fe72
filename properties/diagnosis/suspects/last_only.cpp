// Every micro-batch starts the buffer anew.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor.starts_with("in.buffer.")) return Values(held.expected.size(), 0.0);
  if (!held.name.tensor.starts_with("buffer.")) return std::nullopt;
  return evidence.tap(held.name.window, held.name.micro_batch, "accumulate", "in.d." + held.name.tensor.substr(7));
}

const RegisterSuspect registered{{
    .name = "last-only",
    .faults = {"overwrite-not-add", "zero-grad-inside-loop"},
    .stages = {"accumulate"},
    .sentence = "every micro-batch overwrites the buffer, so that only the last one counts",
    .formula = "A = s_k",
    .left = left,
}};

}  // namespace
}  // namespace tally
