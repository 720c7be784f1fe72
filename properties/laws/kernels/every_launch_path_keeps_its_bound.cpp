// Law: every kernel keeps its bound on every way of its launch, in every precision: one thread a row or a warp, one
// block or several, strides over rows and over the grid, the last of each full or cut.
#include "properties/generators/launch_designs.hpp"
#include "properties/laws/designed.hpp"
#include "properties/laws/run_and_check.hpp"

namespace tally::every_launch_path_keeps_its_bound_law {
namespace {

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case other = c;
  Tensor& x = other.tensors.at("x");
  x.set(0, 1 - x.value(0));
  x.drawing.reset();
  return bits_differ(run(c, subject), run(other, subject), {"forward", "unscale"});
}

const RegisterLaw registered{{
    .name = "every_launch_path_keeps_its_bound",
    .family = "kernels",
    .statement = "Every kernel keeps its bound on every way of its launch, in every precision.",
    .shape = design_launches,
    .holds = holds,
    .control = "another input gives other bits",
    .differs = differs,
    .weight = 1.5,
}};
const RegisterDesigned registered_designed("every_launch_path_keeps_its_bound");

}  // namespace
}  // namespace tally::every_launch_path_keeps_its_bound_law
