// Nobody divides.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::sum_not_mean_fault {
namespace {

void factor(Run& run) { run.factor = run.window_scale; }

const RegisterFault registered{{
    .name = "sum-not-mean",
    .stage = "loss",
    .right = "Σ s_k / N",
    .wrong = "Σ s_k",
    .condition = "N > 1",
    .knob = "value",
    .source = "Lightning 87, nanoGPT 168",
    .laws = {"many_micro_batches_stay_bounded", "partition_equals_full_batch", "equal_sizes_make_means_agree",
             "ordinary_networks_are_judged"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::sum_not_mean_fault
