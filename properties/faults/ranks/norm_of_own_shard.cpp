// Every rank clips by the norm of its own pieces.
#include <cmath>

#include "kernels/training_step/norm_kind.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::norm_of_own_shard_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  if (run.pieces.empty()) return;
  const Tensor* part = run.trace.find(TapView{run.window, -1, "norm", "part", run.rank_tag});
  if (part == nullptr) return;
  const double own = part->value(0), root = norm_kind_of(run) == NormKind::squares ? std::sqrt(own) : own;
  change(run, run.gradient_norm, [&](std::size_t, double value) { return blend(value, root); });
  run.tap("norm", "norm", run.gradient_norm);
}

const RegisterFault registered{{
    .name = "norm-of-own-shard",
    .stage = "norm",
    .right = "the norm over the pieces of all ranks",
    .wrong = "each rank clips by its own",
    .condition = "several ranks that share the optimizer, an active clip",
    .knob = "value",
    .source = "PyTorch issue 72548",
    .laws = {"norm_spans_ranks", "ranks_agree"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::norm_of_own_shard_fault
