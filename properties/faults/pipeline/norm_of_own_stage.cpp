// Every stage of a pipeline clips by the norm of its own layers.
#include <cmath>

#include "kernels/training_step/norm_kind.hpp"
#include "properties/faults/pipeline/planted_on_stages.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::norm_of_own_stage_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  if (!run.pipelined()) return;
  const Tensor* part = run.trace.find(TapView{run.window, -1, "norm", "part", run.rank_tag, run.pipe_rank});
  if (part == nullptr) return;
  const double own = part->value(0), root = norm_kind_of(run) == NormKind::squares ? std::sqrt(own) : own;
  change(run, run.gradient_norm, [&](std::size_t, double value) { return blend(value, root); });
  run.tap("norm", "norm", run.gradient_norm);
}

const RegisterFault registered{{
    .name = "norm-of-own-stage",
    .stage = "norm",
    .right = "the norm over the layers of all stages",
    .wrong = "each stage of a pipeline clips by that of its own",
    .condition = "a pipeline, an active clip",
    .knob = "value",
    .source = "torchtitan issue 596, 649",
    .laws = {"norm_spans_stages"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::norm_of_own_stage_fault
