// The schedule steps twice where it should step once.
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/restatement.hpp"

namespace tally::schedule_doubled_bug {
namespace {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "step") return std::nullopt;
  return Values{evidence.scalar(held.name.window, "schedule", "in.step", 0) + 2};
}

std::vector<Restated> restated(const Case& c, const Trace&) {
  Restated way;
  way.deviation.schedule_count = [begun = steps_before(c)](int, std::int64_t taken) { return 2 * taken - begun; };
  return {way};
}

const RegisterBug registered{{
    .name = "schedule-doubled",
    .stages = {"schedule"},
    .sentence = "the schedule steps twice a window",
    .formula = "t + 2 a window",
    .remedy = "call `scheduler.step()` once per window",
    .left = left,
    .restated = restated,
}};

}  // namespace
}  // namespace tally::schedule_doubled_bug
