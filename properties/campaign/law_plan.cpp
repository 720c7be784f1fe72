// The plans that a campaign draws for one law, in order, most of them afresh, others bred from earlier ones.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/campaign/campaign.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/generators/blocks.hpp"
#include "properties/generators/drawn_options.hpp"
#include "properties/generators/random_plan.hpp"

namespace tally {
namespace {

constexpr std::size_t most_parents = 6;
constexpr int bred_one_in = 4, grown_after = 40;

using Section = void (*)(Plan& plan, const Plan& other);

void take_layers(Plan& plan, const Plan& other) {
  plan.input = other.input;
  plan.hidden = other.hidden;
}
void take_loss(Plan& plan, const Plan& other) {
  plan.loss = other.loss;
  plan.outputs = other.outputs;
  plan.ignored_percent = other.ignored_percent;
  plan.empty_micro_batch = other.empty_micro_batch;
}
void take_cut(Plan& plan, const Plan& other) { plan.windows = other.windows; }
void take_optimizer(Plan& plan, const Plan& other) {
  plan.recipe.optimizer = other.recipe.optimizer;
  plan.recipe.learning_rate = other.recipe.learning_rate;
  plan.recipe.weight_decay = other.recipe.weight_decay;
}
void take_clip(Plan& plan, const Plan& other) { plan.recipe.clip = other.recipe.clip; }
void take_scale(Plan& plan, const Plan& other) { plan.recipe.loss_scale = other.recipe.loss_scale; }
void take_values(Plan& plan, const Plan& other) { plan.seed = other.seed; }
void take_recomputation(Plan& plan, const Plan& other) { plan.execution.recompute = !other.execution.recompute; }

constexpr Section sections[] = {take_layers, take_loss,  take_cut,    take_optimizer,
                                take_clip,   take_scale, take_values, take_recomputation};

/// Sections of two plans need not fit: statistics of a micro-batch or window take two rows.
void fit(Plan& plan) {
  const bool statistics = std::ranges::any_of(plan.hidden, normalises_parts);
  for (auto& window : plan.windows) {
    for (auto& rows : window) rows = std::max<std::int64_t>(rows, statistics || window.size() == 1 ? 2 : 1);
  }
}

}  // namespace

Plan bred(Plan parent, const Plan& other, std::uint64_t seed) {
  executor::Schedule random(seed);
  for (std::uint64_t left = 1 + random.below(3); left > 0; --left) {
    sections[random.below(std::size(sections))](parent, other);
  }
  fit(parent);
  return parent;
}

PlanSource::PlanSource(Dtype storage, std::uint64_t seed, int cases)
    : PlanSource(storage, seed, cases, first_plan_seed(seed)) {}

PlanSource::PlanSource(Dtype storage, std::uint64_t seed, int cases, std::uint64_t first)
    : storage_(storage), seed_(seed), first_(first), cases_(cases) {}

Plan PlanSource::drawn(std::uint64_t seed) const {
  const int grown = std::min(cases_, grown_after), size = rc::kNominalSize * std::min(number_, grown) / grown;
  Plan plan = random_plan(storage_)(rc::Random(seed), size).value();
  plan.seed = seeds_.empty() ? first_ + static_cast<std::uint64_t>(number_)
                             : seeds_[static_cast<std::size_t>(number_ - 1) % seeds_.size()];
  return plan;
}

void PlanSource::number(std::vector<std::uint64_t> seeds) { seeds_ = std::move(seeds); }

Plan PlanSource::next() {
  ++number_;
  executor::Schedule random(seed_ ^ (0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(number_)));
  last_ = drawn(random.next());
  const bool breed = seeds_.empty() && number_ % bred_one_in == 0 && !parents_.empty();
  if (breed) last_ = bred(parents_[random.below(parents_.size())].plan, last_, random.next());
  return last_;
}

void PlanSource::reward(double score) {
  if (!(score > 0)) return;
  const auto place =
      std::find_if(parents_.begin(), parents_.end(), [&](const Parent& parent) { return parent.score < score; });
  parents_.insert(place, {score, last_});
  if (parents_.size() > most_parents) parents_.pop_back();
}

std::uint64_t seed_of(std::uint64_t seed, const Law& law, Dtype storage) {
  const std::string text = std::to_string(seed) + law.name + std::string(name_of(storage));
  return std::stoull(sha256(text).substr(0, 15), nullptr, 16);
}

int cases_drawn(const Law& law, double effort) {
  return std::max(1, static_cast<int>(std::lround(cases_at_effort_one * effort * law.weight)));
}

Plan shaped(Plan plan, const Law& law) {
  draw_norms(plan);
  draw_options(plan);
  if (law.any_values) draw_values(plan);
  draw_formats(plan);
  draw_residual_blocks(plan);
  draw_execution(plan);
  if (law.shape) law.shape(plan);
  fit_options(plan);
  return plan;
}

Plan shaped_for_own_step(Plan plan, const Law& law, const Plainness& plain) {
  draw_options(plan);
  if (law.any_values) draw_values(plan);
  draw_formats(plan);
  plan = plainer(std::move(plan), plain);
  if (law.shape) law.shape(plan);
  plan.execution.order = plan.execution.schedule = 0;
  fit_options(plan);
  return plan;
}

}  // namespace tally
