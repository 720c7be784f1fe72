#include "properties/studies/rules/draw.hpp"

#include <algorithm>
#include <stdexcept>

#include "oracle/case/io.hpp"
#include "properties/generators/random_plan.hpp"
#include "properties/laws/shapes.hpp"
#include "properties/studies/rules/gradient_size.hpp"

namespace tally {
namespace {

constexpr int draws = 24;

std::uint64_t seed_of(const TrialSetting& setting, int index, int draw, std::uint64_t seed) {
  const std::string text = std::to_string(seed) + (setting.fault ? setting.fault->name : "clean") +
                           std::string(name_of(setting.storage)) + std::to_string(setting.exponent) + "/" +
                           std::to_string(index) + "/" + std::to_string(draw);
  return std::stoull(sha256(text).substr(0, 15), nullptr, 16);
}

const Law& law_named(const std::string& name) {
  const Law* law = find_law(name);
  if (!law) throw std::logic_error("no law is named " + name);
  return *law;
}

std::vector<const Law*> laws_of(const TrialSetting& setting) {
  std::vector<const Law*> found;
  if (!setting.fault) return {&law_named("partition_equals_full_batch")};
  for (const std::string& name : setting.fault->laws) found.push_back(&law_named(name));
  return found;
}

/// nullopt where the law's shape leaves a window whole, or gradients that cannot shrink alike.
std::optional<Case> case_in_shape(Plan plan, const Law& law, int exponent) {
  if (law.shape) law.shape(plan);
  plan.normalisation = Normalisation::window_items;
  no_micro_batch_statistics(plan);
  const auto whole = [](const std::vector<std::int64_t>& window) { return window.size() < 2; };
  if (std::any_of(plan.windows.begin(), plan.windows.end(), whole)) return std::nullopt;
  if (exponent != 0 && !gradient_can_shrink(plan)) return std::nullopt;
  return with_gradient_times(case_of(plan), exponent);
}

bool serves(const TrialSetting& setting, const Case& c, const RunOptions& subject) {
  try {
    return !setting.fault || shows(*setting.fault, c, subject);
  } catch (const NotSupported&) {
    return false;
  }
}

}  // namespace

std::optional<DrawnCase> drawn_case(const TrialSetting& setting, int index, std::uint64_t seed,
                                    const RunOptions& subject) {
  for (int draw = 0; draw < draws; ++draw) {
    const rc::Random random(seed_of(setting, index, draw, seed));
    const Plan plan = random_plan(setting.storage)(random, rc::kNominalSize).value();
    for (const Law* law : laws_of(setting)) {
      std::optional<Case> c = case_in_shape(plan, *law, setting.exponent);
      if (c && serves(setting, *c, subject)) return DrawnCase{std::move(*c), law};
    }
  }
  return std::nullopt;
}

}  // namespace tally
