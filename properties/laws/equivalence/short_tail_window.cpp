// Law: a last window with fewer micro-batches and fewer rows divides by its own items.   Σ_{k<r} s_k / N_tail, r < K
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::short_tail_window_law {
namespace {

void shape(Plan& plan) {
  at_least_micro_batches(plan, 3);
  at_least_windows(plan, 2);
  plan.windows.back() = {2, 3};
  plan.normalisation = plan.seed % 2 == 0 ? Normalisation::mean_of_means : Normalisation::window_items;
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case real = c, configured = c;
  real.normalisation = Normalisation::mean_of_means;
  configured.normalisation = Normalisation::mean_of_means_configured;
  return bits_differ(run(real, subject), run(configured, subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "short_tail_window",
    .family = "equivalence",
    .statement = "A short last window divides by its own micro-batches and items.",
    .shape = shape,
    .holds = holds,
    .control = "dividing the tail by the configured K gives other gradients",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::short_tail_window_law
