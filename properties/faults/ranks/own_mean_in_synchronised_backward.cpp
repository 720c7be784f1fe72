// Backward's sums are made means by each rank's own rows before they are averaged over the ranks.
#include "properties/faults/ranks/planted_on_steps.hpp"

namespace tally::own_mean_in_synchronised_backward_fault {
namespace {

/// N / R Σ s_r / n_r, where n_r is not 0.
double mean_of_means(const std::vector<Tensor>& sums, const std::vector<Tensor>& rows, std::size_t i) {
  double all = 0, count = 0, busy = 0;
  for (std::size_t r = 0; r < sums.size(); ++r) {
    const double own = rows[r].value(0);
    if (own == 0) continue;
    all += sums[r].value(i) / own;
    count += own;
    busy += 1;
  }
  return count / busy * all;
}

void sync_statistics(Run& run, LayerState& layer, StepPart part) {
  const Tensor first = layer.own_first.read(), second = layer.own_second.read();
  stage::sync_statistics(run, layer, part);
  if (part != StepPart::gradients) return;
  Link& link = *run.options.link;
  const auto rows = rows_on_ranks(run, layer);
  const auto of_dy_h = brought_by_all(link, about_step(run, layer, "dy h"), first);
  const auto of_dy = brought_by_all(link, about_step(run, layer, "dy"), second);
  leave(run, layer, layer.db_sum, "sum_dy", [&](std::size_t i) { return mean_of_means(of_dy, rows, i); });
  leave(run, layer, layer.dw_sum, "sum_dy_h", [&](std::size_t i) { return mean_of_means(of_dy_h, rows, i); });
}

const RegisterFault registered{{
    .name = "own-mean-in-synchronised-backward",
    .stage = "sync_statistics",
    .right = "Σ dy over all rows / Σ n_r",
    .wrong = "the mean over ranks of Σ dy / n_r",
    .condition = "micro_step statistics that pass a gradient on, unequal rows on several ranks",
    .knob = "value",
    .source = "pytorch PR 36382",
    .laws = {"micro_step_statistics_pool"},
    .stages = with_sync<sync_statistics>,
}};

}  // namespace
}  // namespace tally::own_mean_in_synchronised_backward_fault
