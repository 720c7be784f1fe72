// c, by which a micro-batch's loss is multiplied: (divisor.2), scale over the divisor of (divisor.1), in binary64,
// rounded once.
#include "kernels/ranks/division.hpp"
#include "kernels/ranks/link.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/sizes.hpp"

namespace tally::stage {
namespace {

double divisor(const Run& run) {
  const auto micro_batches = [&](int window) {
    return static_cast<double>(run.c.windows[static_cast<std::size_t>(window)].size());
  };
  switch (run.c.normalisation) {
    case Normalisation::window_items:
      return run.window_items;
    case Normalisation::mean_of_means:
      return run.busy_ranks * micro_batches(run.window) * run.items(run.micro_batch);
    case Normalisation::mean_of_means_configured:
      return micro_batches(0) * run.items(run.micro_batch);
    case Normalisation::rank_means:
      return run.busy_ranks * run.own_items;
    case Normalisation::sum:
      return 1;
  }
  return 0;
}

const RegisterEdges registered_items("items of a window", {0}, "nothing to divide by", "reduce.divide");

}  // namespace

void fix_factor(Run& run) {
  const RankDivision ranks = run.options.link == nullptr
                                 ? RankDivision{}
                                 : rank_division(run.c, static_cast<std::size_t>(run.options.link->size()));
  const double by = divisor(run), scale = static_cast<double>(run.window_scale);
  run.factor = by == 0 ? 0.0f : static_cast<float>(ranks.when_unscaling ? scale : ranks.multiple * scale / by);
}

}  // namespace tally::stage
