// The stage counts its steps from another number.
#include "properties/diagnosis/settings.hpp"
#include "properties/diagnosis/suspect.hpp"

namespace tally::step_taken_as_suspect {
namespace {

std::int64_t steps_before(const Case& c) {
  const auto found = c.tensors.find("step");
  return found == c.tensors.end() ? 0 : found->second.integer(0);
}

std::vector<Hypothesis> ways(const Evidence& evidence) {
  std::vector<Hypothesis> all;
  if (!affordable(evidence)) return all;
  for (const auto& [by, word] :
       {std::pair{1, "one step more"}, std::pair{2, "two steps more"}, std::pair{-1, "one step less"}}) {
    Case c = evidence.c;
    Tensor step(Dtype::i64, {});
    step.set_bits(0, static_cast<std::uint64_t>(steps_before(c) + by));
    c.tensors["step"] = step;
    const std::string sentence = "as if " + std::string(word) + " had been taken";
    all.push_back({what_if(evidence, c, evidence.trace), sentence, "t, " + std::string(word), 0});
  }
  return all;
}

const RegisterSuspect registered{{
    .name = "step-taken-as",
    .faults = {},
    .stages = {"decay", "optimizer", "schedule"},
    .sentence = "the stage counts one step more or less than were taken",
    .formula = "t + 1, or t - 1",
    .remedy = "step the schedule once behind each `optimizer.step()`: it counts one more or less",
    .ways = ways,
}};

}  // namespace
}  // namespace tally::step_taken_as_suspect
