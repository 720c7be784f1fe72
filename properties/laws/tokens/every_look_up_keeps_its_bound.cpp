// Law: every kernel of a table keeps its bound on every way of its launch, in every precision.
#include "properties/generators/look_up_designs.hpp"
#include "properties/laws/designed.hpp"
#include "properties/laws/run_and_check.hpp"

namespace tally::every_look_up_keeps_its_bound_law {
namespace {

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  Tensor& table = other.tensors.at("wte.weight");
  for (std::size_t i = 0; i < table.elements(); ++i) table.set(i, 1 - table.value(i));
  table.drawing.reset();
  return bits_differ(run(c, subject), run(other, subject), {"forward", "unscale"});
}

const RegisterLaw registered{{
    .name = "every_look_up_keeps_its_bound",
    .family = "tokens",
    .statement = "Every kernel of a table keeps its bound on every way of its launch, in every precision.",
    .shape = design_look_ups,
    .holds = holds,
    .control = "another table gives other bits",
    .differs = differs,
    .weight = 0.25,
}};
const RegisterDesigned registered_designed("every_look_up_keeps_its_bound");

}  // namespace
}  // namespace tally::every_look_up_keeps_its_bound_law
