// A skipped window takes its running statistics back.
#include "properties/diagnosis/suspect.hpp"

namespace tally {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const int window = held.name.window;
  if (!held.name.tensor.starts_with("in.") || held.name.tensor.find(".running_") == std::string::npos)
    return std::nullopt;
  if (window == 0 || held.name.micro_batch > 0) return std::nullopt;
  if (evidence.scalar(window - 1, "overflow_check", "found", 0) == 0) return std::nullopt;
  const int first = held.name.micro_batch;  // or -1, for statistics of the window
  return evidence.tap(window - 1, first, "running_stats", held.name.tensor);
}

const RegisterSuspect registered{{
    .name = "statistics-restored",
    .faults = {"running-values-restored-on-skip"},
    .stages = {"running_stats"},
    .sentence = "a window that is skipped takes its running statistics back",
    .formula = "r after a skipped window = r before it",
    .left = left,
}};

}  // namespace
}  // namespace tally
