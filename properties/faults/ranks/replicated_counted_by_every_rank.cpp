// Every rank's part of the norm is that of all pieces, which are counted as often as there are ranks.
#include <cmath>

#include "kernels/training_step/norm_kind.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::replicated_counted_by_every_rank_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  if (run.pieces.empty()) return;
  const double times = norm_kind_of(run.c.recipe.clip) == NormKind::two ? std::sqrt(ranks(run)) : ranks(run);
  if (norm_kind_of(run.c.recipe.clip) == NormKind::infinity) return;
  change(run, run.gradient_norm, [&](std::size_t, double value) { return blend(value, value * times); });
  run.tap("norm", "norm", run.gradient_norm);
}

const RegisterFault registered{{
    .name = "replicated-counted-by-every-rank",
    .stage = "norm",
    .right = "each piece counts once",
    .wrong = "the norm counts every piece R times",
    .condition = "several ranks that share the optimizer, not of the inf-norm",
    .knob = "value",
    .source = "PyTorch issue 88955",
    .laws = {"norm_spans_ranks"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::replicated_counted_by_every_rank_fault
