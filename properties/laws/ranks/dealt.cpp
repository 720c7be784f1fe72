#include "properties/laws/ranks/dealt.hpp"

#include <iterator>
#include <string>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"

namespace tally {

void dealt_to_ranks(Plan& plan) {
  constexpr std::uint64_t apart = 0x510e527fu;
  executor::Schedule random(plan.seed ^ apart);
  const auto drawn = [&](std::uint64_t limit) { return static_cast<std::int64_t>(random.below(limit)); };
  constexpr int counts[] = {2, 3, 4, 5, 6, 7, 8};
  plan.ranks = counts[random.below(std::size(counts))];
  if (plan.normalisation == Normalisation::mean_of_means_configured) plan.normalisation = Normalisation::mean_of_means;
  for (Layer& layer : plan.hidden)
    if (layer.kind == "batch_norm") layer.options["statistics"] = std::string("frozen");
  const std::string algorithms[] = {"in_order", "recursive_doubling", "ring"};
  set_rank_option(plan.execution, "reduce.algorithm", algorithms[random.below(std::size(algorithms))]);
  const std::int64_t elements = drawn(3);
  set_rank_option(plan.execution, "buckets.elements", elements == 0 ? 0 : 1 + drawn(64));
  set_rank_option(plan.execution, "buckets.order", std::string(random.below(2) == 0 ? "model" : "reverse"));
  set_rank_option(plan.execution, "buckets.align", random.below(2) == 0 ? std::int64_t{1} : 1 + drawn(8));
  set_rank_option(plan.execution, "arrival", random.below(2) == 0 ? std::int64_t{0} : 1 + drawn(1000));
}

void dealt_to_ranks_by_any_normalisation(Plan& plan) {
  constexpr Normalisation all[] = {Normalisation::window_items, Normalisation::rank_means, Normalisation::mean_of_means,
                                   Normalisation::sum};
  plan.normalisation = all[plan.seed % std::size(all)];
  dealt_to_ranks(plan);
}

Case on_one_rank(Case c) {
  c.dealt.clear();
  c.execution.ranks = {};
  return c;
}

bool has_ranks(const Case& c) { return ranks_of(c) > 1; }

}  // namespace tally
