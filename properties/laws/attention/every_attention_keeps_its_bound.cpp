// Law: every kernel of attention keeps its bound on every way of its launch, in every precision.
#include "properties/generators/attention_designs.hpp"
#include "properties/laws/designed.hpp"
#include "properties/laws/run_and_check.hpp"

namespace tally::every_attention_keeps_its_bound_law {
namespace {

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  Tensor& values = other.tensors.at("v.weight");
  for (std::size_t i = 0; i < values.elements(); ++i) values.set(i, 1 - values.value(i));
  values.drawing.reset();
  return bits_differ(run(c, subject), run(other, subject), {"forward", "unscale"});
}

const RegisterLaw registered{{
    .name = "every_attention_keeps_its_bound",
    .family = "attention",
    .statement = "Every kernel of attention keeps its bound on every way of its launch, in every precision.",
    .shape = design_attention,
    .holds = holds,
    .control = "other weights of the values give other bits",
    .differs = differs,
    .weight = 0.875,  // all designs in every format
}};
const RegisterDesigned registered_designed("every_attention_keeps_its_bound");

}  // namespace
}  // namespace tally::every_attention_keeps_its_bound_law
