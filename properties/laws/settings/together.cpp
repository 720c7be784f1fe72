// Settings put together, and the law that every stage keeps its bound then.
#include "properties/laws/settings/together.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/file/parts.hpp"
#include "oracle/case/rank_keys.hpp"
#include "properties/generators/blocks.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/plan.hpp"
#include "properties/generators/settings.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/pipeline/pipelines.hpp"
#include "properties/laws/ranks/plans_of_ranks.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally {
namespace {

constexpr std::uint64_t apart = 0x510e527fade682d1ull;
constexpr std::uint64_t first_pair = std::uint64_t{1} << 48, most_settings = 1 << 12;

Plan smallest() {
  Plan plan;
  plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{4}}}), layer("relu")};
  plan.loss = choice("loss", "mse");
  plan.windows = {{2, 2, 3, 2}, {3, 2}};
  plan.recipe.optimizer = choice("optimizer", "sgd");
  plan.recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0.1"}}});
  plan.recipe.weight_decay = choice("weight_decay", "none");
  plan.recipe.clip = choice("clip", "none");
  plan.recipe.loss_scale = choice("loss_scale", "none");
  return plan;
}

/// One of every sort and some more, as seeds draw them.
const std::vector<Plan>& samples() {
  static const std::vector<Plan> all = [] {
    constexpr std::uint64_t enough = 48;
    std::vector<Plan> drawn{smallest()};
    for (std::uint64_t seed = 1; seed <= enough; ++seed) {
      drawn.push_back(smallest());
      drawn.back().seed = seed;
      of_any_sort(drawn.back());
      if (broken_rule(drawn.back())) drawn.pop_back();
    }
    return drawn;
  }();
  return all;
}

/// Two windows of four micro-batches at most, of three rows, and few ranks: what settings show, they show in little.
void cut_short(Plan& plan) {
  const auto replicas = static_cast<int>(std::get<std::int64_t>(rank_option(plan.execution, "replicas")));
  if (plan.ranks > 3) plan.ranks = replicas > 1 ? 2 * replicas : 3;
  plan.windows.resize(std::min<std::size_t>(plan.windows.size(), 2));
  for (auto& window : plan.windows) {
    window.resize(std::min<std::size_t>(window.size(), 4));
    for (std::int64_t& rows : window) rows = std::min<std::int64_t>(rows, 3);
  }
}

}  // namespace

void of_any_sort(Plan& plan) {
  executor::Schedule random(plan.seed ^ apart);
  constexpr std::array made{QueriesAndKeys::apart, QueriesAndKeys::turned, QueriesAndKeys::fused};
  const std::uint64_t model = random.below(6);
  if (model < made.size()) attend(plan, made[model]);
  if (model == made.size()) read_tokens(plan);
  if (random.below(4) == 0) add_adapters(plan);
  const std::uint64_t trained_by = random.below(4);
  plan.normalisation = normalisations[random.below(normalisations.size())];
  if (trained_by == 0) pipelined_on_ranks(plan);
  if (trained_by > 1) {
    at_least_micro_batches(plan, 4);
    dealt_to_ranks_by_any_normalisation(plan);
  }
}

namespace {

/// The sample with both settings, put in this order; else the rule against it is counted.
std::optional<Plan> with_both(const Plan& sample, std::size_t one, std::size_t other,
                              std::map<std::string, int>& rules) {
  Plan plan = sample;
  if (put(plan, one, sample.seed)) return std::nullopt;
  const auto rule = put(plan, other, sample.seed, {one});
  if (!rule) return plan;
  ++rules[*rule];
  return std::nullopt;
}

/// The samples that take both, in turn, until `wanted` says to end; else the rules that stood against it.
template <class Wanted>
std::map<std::string, int> samples_with_both(std::size_t a, std::size_t b, Wanted wanted) {
  std::map<std::string, int> rules;
  for (const Plan& sample : samples())
    for (const auto& [one, other] : {std::pair{a, b}, std::pair{b, a}})
      if (const auto plan = with_both(sample, one, other, rules); plan && !wanted(*plan)) return rules;
  return rules;
}

/// The settings of `more` that the rules allow beside those which must stand.
void put_more(Plan& plan, const std::vector<std::size_t>& must_stand, const std::vector<std::size_t>& more,
              executor::Schedule& random) {
  for (const std::size_t setting : more) put(plan, setting, random.next(), must_stand);
}

}  // namespace

void put_together(Plan& plan, std::size_t first, const std::vector<std::size_t>& more) {
  executor::Schedule random(plan.seed ^ ~apart);
  constexpr int tries = 6;
  const auto& forms = unusual_forms();
  const UnusualForm form = plan.seed % 3 == 0 ? nullptr : forms[plan.seed / 3 % forms.size()];
  Plan tried = plan;
  for (int i = 0; i < tries; ++i) {
    tried = plan;
    tried.seed = plan.seed + (static_cast<std::uint64_t>(i) << 32);
    of_any_sort(tried);
    tried.seed = plan.seed;
    cut_short(tried);
    if (form != nullptr) form(tried, random);
    if (!broken_rule(tried) && !put(tried, first, random.next())) break;
    tried = plan;
  }
  plan = std::move(tried);
  put_more(plan, {first}, more, random);
  if (form == nullptr) return;
  tried = plan;  // once more, where settings have taken its place
  form(tried, random);
  if (!broken_rule(tried)) plan = std::move(tried);
}

namespace {

/// Places of settings that `chosen` is true of.
template <class Chosen>
std::vector<std::size_t> places_of(Chosen chosen) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < settings().size(); ++i)
    if (chosen(settings()[i])) places.push_back(i);
  return places;
}

/// One kind of each section and two of its options, so that kinds of many options take the place of no others; many of
/// layers and of ranks, which stand beside each other.
std::vector<std::size_t> drawn_settings(executor::Schedule& random) {
  constexpr int of_a_kind = 2, of_layers = 12, of_ranks = 10;
  static const auto layers = places_of([](const CaseSetting& s) { return s.section == "layer"; });
  static const auto ranks = places_of([](const CaseSetting& s) { return s.section == "ranks"; });
  std::vector<std::size_t> drawn;
  const auto draw = [&](const std::vector<std::size_t>& from, int count) {
    for (int i = 0; i < count && !from.empty(); ++i) drawn.push_back(from[random.below(from.size())]);
  };
  const auto draw_section = [&](std::string_view section) {
    draw(places_of([&](const CaseSetting& s) { return s.section == section && !s.is_option(); }), 1);
    const std::string& kind = settings()[drawn.back()].kind;
    draw(places_of([&](const CaseSetting& s) { return s.section == section && s.kind == kind && s.is_option(); }),
         of_a_kind);
  };
  draw_section("loss");
  for (const RecipeSection& section : recipe_sections) draw_section(section.name);
  draw(layers, of_layers);
  draw(ranks, of_ranks);
  return drawn;
}

/// In another sample that takes both for each round. As it is where none does.
void put_pair(Plan& plan, std::size_t a, std::size_t b, std::uint64_t round) {
  executor::Schedule random(plan.seed ^ apart);
  std::optional<Plan> last;
  samples_with_both(a, b, [&](const Plan& found) {
    last = found;
    return round-- > 0;
  });
  if (!last) return;
  last->precision = plan.precision;
  last->seed = plan.seed;
  cut_short(*last);
  if (broken_rule(*last)) return;
  plan = *std::move(last);
  put_more(plan, {a, b}, drawn_settings(random), random);
}

}  // namespace

std::uint64_t number_of_pair(std::size_t a, std::size_t b, std::uint64_t round) {
  return first_pair + (round * most_settings + a) * most_settings + b;
}

void put_together(Plan& plan, std::uint64_t number) {
  if (number >= first_pair) {
    const std::uint64_t pair = number - first_pair;
    return put_pair(plan, pair / most_settings % most_settings, pair % most_settings,
                    pair / most_settings / most_settings);
  }
  static const auto by_training =
      places_of([](const CaseSetting& s) { return s.section == "ranks" || s.section == "normalisation"; });
  executor::Schedule random(number ^ apart);
  const std::uint64_t turn = number / 2;
  const std::size_t first = number % 2 == 1 ? by_training[turn % by_training.size()] : turn % settings().size();
  put_together(plan, first, drawn_settings(random));
}

std::optional<std::string> why_never_together(std::size_t a, std::size_t b) {
  bool some = false;
  const auto rules = samples_with_both(a, b, [&](const Plan&) { return !(some = true); });
  if (some) return std::nullopt;
  const auto most = std::ranges::max_element(rules, {}, [](const auto& rule) { return rule.second; });
  return most == rules.end() ? "no sample takes either" : most->first;
}

}  // namespace tally

// Law: whatever settings stand together in a case, every stage keeps its bound: kinds of layers, losses and recipe
// sections, values of their options, and how ranks and stages train it, in usual models and unusual ones. Each of its
// cases begins with another setting, and takes as many drawn ones as the rules allow.
namespace tally::settings_stand_together_law {
namespace {

void shape(Plan& plan) { put_together(plan, plan.seed); }

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"forward", "unscale"});
}

const RegisterLaw registered{{
    .name = "settings_stand_together",
    .family = "kernels",
    .statement = "Whatever settings stand together in a case, every stage keeps its bound.",
    .shape = shape,
    .holds = holds,
    .control = "another input gives other bits",
    .differs = differs,
    .weight = 3,
    .judges_any_case = true,
}};

}  // namespace
}  // namespace tally::settings_stand_together_law
