// The clean cases and the ordinary networks of the campaign for the tolerances.
#include "properties/lab/evidence/cases.hpp"

#include <array>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "properties/generators/blocks.hpp"
#include "properties/generators/ordinary/ordinary_plan.hpp"
#include "properties/generators/random_plan.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/lab/evidence/case_strata.hpp"

namespace tally {
namespace {

using executor::Schedule;

bool one_in(Schedule& random, std::uint64_t n) { return random.below(n) == 0; }

bool has_item_weights(const Plan& plan) {
  return plan.loss.kind == kinds::cross_entropy || plan.loss.flag("item_weights");
}

void vary_sizes(Plan& plan, Schedule& random) {
  if (!one_in(random, 4)) return;
  for (auto& window : plan.windows) {
    for (auto& rows : window) rows = static_cast<std::int64_t>(8 + random.below(9));
  }
}

void vary_normalisation(Plan& plan, Schedule& random) {
  constexpr std::array others{Normalisation::mean_of_means, Normalisation::mean_of_means_configured,
                              Normalisation::sum};
  const std::uint64_t drawn = random.below(8);
  if (drawn < others.size()) plan.normalisation = others[drawn];
}

void vary_loss(Plan& plan, Schedule& random) {
  if (one_in(random, 8)) plan.empty_micro_batch = has_item_weights(plan);
  if (!one_in(random, 8) || plan.loss.kind != kinds::cross_entropy) return;
  std::vector<Decimal> weights;
  for (std::int64_t k = 0; k < plan.outputs; ++k) weights.push_back({"0." + std::to_string(1 + random.below(9))});
  plan.loss.options["weight"] = weights;
}

void vary_norm(Plan& plan, Schedule& random) {
  if (plan.recipe.clip.kind != kinds::global_norm || !one_in(random, 2)) return;
  plan.recipe.clip.options["norm"] = std::string(one_in(random, 2) ? "1" : "inf");
}

/// One in four with residual blocks, one in six over tokens, one in six frozen in part, with adapters.
void vary_model(Plan& plan, Schedule& random) {
  const bool tokens = one_in(random, 6);
  if (!tokens)
    draw_residual_blocks(plan);
  else
    one_in(random, 2) ? attend(plan) : read_tokens(plan);
  if (tokens) plan.loss.options["weight"] = std::vector<Decimal>{};  // those drawn are of other classes
  if (plan.seed % 6 == 0) add_adapters(plan);
}

void vary_data(Case& c, Schedule& random) {
  if (!one_in(random, 8) || c.model.tokens) return;
  Tensor& x = c.tensors.at("x");
  x = Tensor(x.dtype, x.shape);
  draw(x, {1, random.next() >> 12, "wide"});
}

DrawnRun drawn_run(const RunOptions& on, Schedule& random) {
  DrawnRun run{on, {}};
  run.subject.order_seed = one_in(random, 2) ? 0 : random.next() | 1;
  run.subject.schedule_seed = one_in(random, 2) ? 0 : random.next() | 1;
  for (const auto& [operation, variants] : shipped_variants(on.executor)) {
    if (variants.size() > 1) run.variants[operation] = variants[random.below(variants.size())];
  }
  return run;
}

}  // namespace

Plan drawn_plan(Dtype storage, std::uint64_t seed) {
  return random_plan(storage)(rc::Random(seed), rc::kNominalSize).value();
}

std::string replay_token(const Case& c) {
  constexpr std::size_t longest = 4000;
  const std::string token = token_of(c);
  return token.size() <= longest ? token : hash_of(c);
}

CleanCase clean_case(std::uint64_t seed, std::uint64_t number, const RunOptions& on) {
  const std::vector<Dtype>& storages = storage_formats();
  Schedule mixed(seed);
  Schedule random(mixed.next() ^ (0x9e3779b97f4a7c15u * (number + 1)));
  Plan plan = drawn_plan(storages[number % storages.size()], random.next());
  vary_sizes(plan, random);
  vary_normalisation(plan, random);
  vary_loss(plan, random);
  vary_norm(plan, random);
  if (one_in(random, 2)) draw_formats(plan);
  vary_model(plan, random);
  CleanCase made{case_of(plan), {}};
  vary_data(made.c, random);
  made.run = drawn_run(on, random);
  return made;
}

namespace {

/// Places 1, 5, 9, … of 50 are medium; 7, 15, 23, … in turn large, large and true. The last of 400 is huge.
OrdinarySize size_of(std::uint64_t number) {
  if (number % 400 == 399) return OrdinarySize::huge;
  const std::uint64_t place = number % 50;
  if (place % 8 == 7) return place % 24 == 23 ? OrdinarySize::true_size : OrdinarySize::large;
  return place % 4 == 1 ? OrdinarySize::medium : OrdinarySize::small;
}

}  // namespace

OrdinaryCase ordinary_case(std::uint64_t seed, std::uint64_t number) {
  const std::vector<Dtype>& storages = storage_formats();
  executor::Schedule mixed(seed);
  executor::Schedule random(mixed.next() ^ (0xd1342543de82ef95u * (number + 1)));
  const OrdinarySize size = size_of(number);
  const Plan plan = ordinary_plan(storages[number % storages.size()], size, random.next());
  return {case_of(plan), name_of(size), traits_of(plan)};
}

Strata ordinary_strata_of(const OrdinaryCase& made, const EvidenceRun& held, std::uint64_t number) {
  Strata strata;
  for (const auto& [place, stratum] : counted(made.c, held, number)) {
    const auto& [lens, part] = place;
    strata.at({"ordinary", "all"}).merge(stratum);
    strata.at({"ordinary", "size", made.size, std::string(name_of(made.c.precision.storage))}).merge(stratum);
    for (const auto& [trait, value] : made.traits) strata.at({"ordinary", trait, value}).merge(stratum);
    if (lens == "local") strata.at({"ordinary stage", made.size, part}).merge(stratum);
  }
  count_excess(strata, made.c, held);
  count_alarms(strata, "ordinary networks", made.c, held, number);
  settle_cases(strata, held);
  return strata;
}

}  // namespace tally
