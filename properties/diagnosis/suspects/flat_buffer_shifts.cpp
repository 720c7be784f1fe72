// Parameters without a gradient take no room in the flat buffer.
#include <algorithm>

#include "properties/diagnosis/suspect.hpp"

namespace tally::flat_buffer_shifts_suspect {
namespace {

/// All gradients of a micro-batch that are not zero throughout, one behind the other.
Values flat_gradients(const Evidence& evidence, int window, int micro_batch) {
  Values flat;
  for (const std::string& p : parameters_of(evidence.c.model)) {
    const auto gradient = evidence.tap(window, micro_batch, "accumulate", "in.d." + p).value_or(Values{});
    const bool none = std::all_of(gradient.begin(), gradient.end(), [](double g) { return g == 0; });
    if (!none) flat.insert(flat.end(), gradient.begin(), gradient.end());
  }
  return flat;
}

/// Where the parameter lies in a buffer that leaves room for all.
std::size_t offset_of(const Evidence& evidence, int window, int micro_batch, const std::string& parameter) {
  std::size_t offset = 0;
  for (const std::string& p : parameters_of(evidence.c.model)) {
    if (p == parameter) break;
    offset += evidence.tap(window, micro_batch, "accumulate", "in.d." + p).value_or(Values{}).size();
  }
  return offset;
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const int w = held.name.window, k = held.name.micro_batch;
  const std::string parameter = parameter_in(evidence, held, "buffer.");
  auto sum = evidence.tap(w, k, "accumulate", "in.buffer." + parameter);
  if (parameter.empty() || !sum) return std::nullopt;
  const Values flat = flat_gradients(evidence, w, k);
  const std::size_t offset = offset_of(evidence, w, k, parameter);
  for (std::size_t i = 0; i < sum->size() && offset + i < flat.size(); ++i) (*sum)[i] += flat[offset + i];
  return sum;
}

const RegisterSuspect registered{{
    .name = "flat-buffer-misaligned",
    .faults = {"flat-buffer-misaligned"},
    .stages = {"accumulate"},
    .sentence = "parameters without a gradient take no room in the flat buffer, so that all behind them shift",
    .formula = "A_i = A_i + s_{i + shift}",
    .remedy = "keep the room of parameters without a gradient in the flat buffer, or leave them out on both sides",
    .left = left,
}};

}  // namespace
}  // namespace tally::flat_buffer_shifts_suspect
