#include <limits>

#include "oracle/case/json.hpp"
#include "oracle/case/rules.hpp"

namespace tally {

/// Every window may take a step, and the count after the last one must be a number too.
void check_step(const Case& c, Findings& findings) {
  const auto step = c.tensors.find("step");
  if (step == c.tensors.end() || !findings.sound(tensor_path("step"))) return;
  if (step->second.dtype != Dtype::i64 || step->second.elements() != 1) return;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>(c.windows.size());
  if (step->second.integer(0) <= most) return;
  findings.add(element_path(tensor_path("step") + ".data", 0), std::to_string(step->second.integer(0)),
               "at most " + std::to_string(most) + ", so that " + std::to_string(c.windows.size()) +
                   " more steps can be counted");
}

}  // namespace tally
