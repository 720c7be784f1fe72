// The division by K comes after the backward pass: the loss that is reported is right, the gradient is not.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::scale_after_backward_fault {
namespace {

void loss(Run& run) {
  stage::loss(run);
  const int k = run.micro_batch, times = micro_batches(run);
  const std::int64_t rows = run.rows(k), features = run.dy.shape[1];
  void* dy = run.dy.row(run.first_row_alive(k));
  change(run, dy, run.dy.dtype, rows * features,
         [times](std::size_t, double value) { return blend(value, times * value); });
  run.tap("loss", "d.y", dy, run.dy.dtype, {rows, features});
}

const RegisterFault registered{{
    .name = "scale-after-backward",
    .stage = "loss",
    .right = "∇(l_k / K)",
    .wrong = "∇ l_k, then l_k / K",
    .condition = "K > 1",
    .knob = "value",
    .source = "verl PR 436, Lightning 87",
    .laws = {"partition_equals_full_batch"},
    .stages = replaced<&Stages::loss, loss>,
}};

}  // namespace
}  // namespace tally::scale_after_backward_fault
