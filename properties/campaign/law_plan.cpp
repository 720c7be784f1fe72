#include "properties/campaign/law_plan.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "oracle/case/io.hpp"
#include "properties/campaign/campaign.hpp"
#include "properties/generators/drawn_norms.hpp"
#include "properties/generators/drawn_options.hpp"
#include "properties/generators/random_plan.hpp"
#include "properties/generators/residual_blocks.hpp"

namespace tally {

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
