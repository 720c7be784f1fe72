#include "oracle/case/json.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/rules.hpp"

namespace tally {

void check_targets(const Case& c, Findings& findings) {
  const auto target = c.tensors.find("target");
  if (!has_class_targets(c.model.loss) || target == c.tensors.end()) return;
  if (!findings.sound(tensor_path("target")) || target->second.dtype != Dtype::i64) return;
  const std::int64_t classes = features_before(c.model, c.model.layers.size());
  const std::int64_t ignored = c.model.loss.integer("ignore_index");
  constexpr std::size_t most_reported = 8;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < target->second.elements() && wrong < most_reported; ++i) {
    const std::int64_t value = target->second.integer(i);
    if (value == ignored || (value >= 0 && value < classes)) continue;
    findings.add(element_path(tensor_path("target") + ".data", i), std::to_string(value),
                 "a class from 0 to " + std::to_string(classes - 1) + ", or ignore_index, " + std::to_string(ignored));
    ++wrong;
  }
}

}  // namespace tally
