// Laws of moves: to another number of ranks, and to the host executor.
#include <algorithm>
#include <optional>
#include <utility>

#include "oracle/case/contract.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/exact/answer.hpp"
#include "properties/generators/choices.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"
#include "properties/laws/ranks/plans_of_ranks.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: where the number of ranks changes, training goes on bit for bit with what the ranks before left: whatever pieces
// each kept, the next begin with the same parameters, optimizer state, running values, scale and step; a training of as
// many ranks that begins with that state leaves the same bits; and the exact training is that of one rank.
//   A checkpoint is a copy, and a copy rounds nothing.
namespace tally::ranks_may_change_law {
namespace {

/// An optimizer that keeps something; now and then fewer elements than ranks, in several buckets, padded.
void shape(Plan& plan) {
  if (state_of(plan.recipe.optimizer).empty())
    plan.recipe.optimizer = choice("optimizer", "sgd", {{"momentum", Decimal{"0.9"}}});
  if (plan.seed % 5 == 0 && plan.tokens.width == 0) {
    plan.hidden.clear();
    plan.input = 1 + static_cast<std::int64_t>(plan.seed / 5 % 3);
    plan.outputs = plan.loss.kind == "mse" ? 1 : plan.outputs;
    plan.output_bias = plan.seed % 2 == 0;
  }
  at_least_windows(plan, 2 + plan.seed / 7 % 2);
  dealt_to_ranks_by_any_normalisation(plan);
  change_ranks(plan);
  const char* const words[] = {"optimizer", "gradients", "parameters"};
  if (plan.seed % 4 == 1 && rank_word(plan.execution, "communicate") != "running_total")
    share(plan, words[plan.seed / 4 % 3]);
  if (plan.seed % 3 == 0) set_rank_option(plan.execution, "buckets.elements", std::int64_t{1});
  if (plan.seed % 3 == 0 && plan.seed % 2 == 0) set_rank_option(plan.execution, "buckets.align", std::int64_t{3});
}

const Tensor* find(const Trace& trace, std::size_t window, const std::string& stage, const std::string& tensor) {
  return trace.find(TapName{static_cast<int>(window), -1, stage, tensor}.view());
}

/// What the windows before this one left of it; the case's where none wrote it.
const Tensor* left_before(const Case& c, const Trace& first, std::size_t window, const std::string& tensor) {
  for (std::size_t w = window; w-- > 0;)
    if (const Tensor* left = find(first, w, "optimizer", tensor)) return left;
  const auto given = c.tensors.find(tensor);
  return given == c.tensors.end() ? nullptr : &given->second;
}

/// What this generation first reads of it at a window's end.
const Tensor* first_read(const Trace& first, const Generation& at, const std::string& stage,
                         const std::string& tensor) {
  for (std::size_t w = at.first; w < at.last; ++w)
    if (const Tensor* read = find(first, w, stage, tensor)) return read;
  return nullptr;
}

void require_same(Outcome& outcome, const Tensor* left, const Tensor* read, std::size_t window,
                  const std::string& tensor) {
  if (left == nullptr || read == nullptr) return;
  require(outcome, *left == *read, "w" + std::to_string(window) + "/checkpoint/" + tensor, "checkpoint",
          "the ranks of window " + std::to_string(window) + " go on with other bits of " + tensor +
              " than those before them left");
}

/// The state behind a change is that in front of it, by what stages left and read, whatever was tapped of a checkpoint.
void require_state(Outcome& outcome, const Case& c, const Trace& first, const Generation& at) {
  for (const std::string& p : parameters_of(c.model)) {
    require_same(outcome, left_before(c, first, at.first, p), find(first, at.first, "cast", "in." + p), at.first, p);
    for (const StateTensor* state : state_of(c.recipe.optimizer)) {
      const std::string name = state->name + "." + p;
      require_same(outcome, left_before(c, first, at.first, name), first_read(first, at, "optimizer", "in." + name),
                   at.first, name);
    }
  }
  for (const char* of_the_scale : {"scale", "growth_counter"})
    require_same(outcome, find(first, at.first - 1, "scaler", of_the_scale),
                 find(first, at.first, "scaler", "in." + std::string(of_the_scale)), at.first, of_the_scale);
  require_same(outcome, find(first, at.first - 1, "schedule", "step"), find(first, at.first, "schedule", "in.step"),
               at.first, "step");
}

/// One generation as a training of its own that begins with what those before it wrote down. Nothing where that is not
/// all tapped, or no case can begin so.
std::optional<Case> begun_there(const Case& c, const Trace& first, std::size_t which, bool with_moments = true) {
  const Generation at = generations_of(c)[which];
  Case own = generation_of(c, which);
  const auto cut = [&](std::vector<std::vector<std::int64_t>>& windows) {
    windows = {windows.begin() + static_cast<std::ptrdiff_t>(at.first),
               windows.begin() + static_cast<std::ptrdiff_t>(at.last)};
  };
  cut(own.windows);
  cut(own.dealt);
  if (at.ranks == 1) {
    own.dealt.clear();
    own.execution.ranks.kind = "ranks";
  }
  const auto written = [&](const std::string& name) { return find(first, at.first - 1, "checkpoint", "in." + name); };
  for (const std::string& p : parameters_of(c.model)) {
    if (written(p) == nullptr) return std::nullopt;
    own.tensors.at(p) = *written(p);
    for (const StateTensor* state : state_of(c.recipe.optimizer)) {
      const std::string name = state->name + "." + p;
      own.tensors.erase(name);
      if (const Tensor* kept = written(name); kept != nullptr && with_moments) own.tensors.emplace(name, *kept);
    }
  }
  for (auto& [name, tensor] : own.tensors)
    if (const Tensor* kept = name.find(".running_") == std::string::npos ? nullptr : written(name)) tensor = *kept;
  if (written("step") == nullptr) return std::nullopt;
  own.tensors.insert_or_assign("step", *written("step"));
  if (checks_overflow(c.recipe.loss_scale)) {
    if (written("scale") == nullptr || written("growth_counter") == nullptr) return std::nullopt;
    auto& options = own.recipe.loss_scale.options;
    options[contract_of("loss_scale", c.recipe.loss_scale).first_scale] =
        decimal(static_cast<double>(written("scale")->value(0)));
    options["growth_counter"] = written("growth_counter")->integer(0);
  }
  return validate(own).empty() ? std::optional(std::move(own)) : std::nullopt;
}

/// The taps of one generation, its first window the first.
Trace of_generation(const Trace& trace, const Generation& at) {
  Trace own;
  own.claims = trace.claims;
  for (const Tap& tap : trace.taps()) {
    const auto window = static_cast<std::size_t>(tap.name.window);
    if (window < at.first || window >= at.last || tap.name.stage == "checkpoint") continue;
    TapName name = at.ranks == 1 ? of_rank(tap.name, -1) : tap.name;
    name.window -= static_cast<int>(at.first);
    own.add(std::move(name), tap.value);
  }
  return own;
}

const std::vector<std::string> everything{
    "cast",     "all_gather", "forward",   "sync_statistics", "running_stats", "loss",
    "backward", "accumulate", "reduce",    "agree",           "unscale",       "norm",
    "clip",     "decay",      "optimizer", "gather_updated",  "scaler",        "schedule"};

/// Whether the exact training does not depend on who has which micro-batch.
bool is_one_training(const Case& c) {
  const bool weighed = c.normalisation == Normalisation::window_items || c.normalisation == Normalisation::sum;
  return weighed && std::ranges::none_of(c.model.layers, normalises_parts);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!is_elastic(c)) return not_for("a case whose number of ranks changes from one window to the next");
  CheckedRun changing = run_and_check(c, subject);
  if (changing.outcome.status == Status::not_run) return changing.outcome;
  const Trace first = of_first_rank(c, changing.trace);
  const std::vector<Generation> generations = generations_of(c);
  for (std::size_t i = 1; i < generations.size(); ++i) {
    require_state(changing.outcome, c, first, generations[i]);
    if (const auto own = begun_there(c, first, i))
      require_equal_bits(changing.outcome, run(*own, subject), of_generation(changing.trace, generations[i]),
                         everything,
                         "ranks that went on from others left other bits than ranks that begin with that state");
  }
  if (is_one_training(c)) {
    double gap = 0;
    for (const oracle::WindowGap& window : oracle::gap_between(c, on_one_rank(c)))
      gap = std::max({gap, window.gradient, window.parameter});
    require(changing.outcome, gap == 0, "w0/semantic_gap", "checkpoint",
            "the exact training of ranks whose number changes is not that of one rank");
  }
  const Case alone = on_one_rank(c);  // whose micro-steps may be of one row, without statistics
  if (validate(alone).empty()) add(changing.outcome, run_and_check(alone, subject).outcome);
  return settled(std::move(changing.outcome));
}

/// The optimizer's state begins anew behind the first change.
bool differs(const Case& c, const RunOptions& subject) {
  const Trace first = of_first_rank(c, run(c, subject));
  const auto own = begun_there(c, first, 1), reset = begun_there(c, first, 1, false);
  return own && reset && bits_differ(run(*own, subject), run(*reset, subject), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "ranks_may_change",
    .family = "ranks",
    .statement = "Where the number of ranks changes training goes on bit for bit with what those before left.",
    .shape = shape,
    .holds = holds,
    .control = "moments that begin anew behind a change leave other parameters",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::ranks_may_change_law

// Law: a step on the host executor leaves the bits of a step on the device: every kernel of it is one source, whose
// operations round alike on both, and between them bits are copied.   Ranks, and one rank alone.
namespace tally::offload_changes_nothing_law {
namespace {

void shape(Plan& plan) {
  at_least_windows(plan, 2);
  dealt_to_ranks_by_any_normalisation(plan);
  plan.execution.schedule = 0;  // an order of launches; there are two of them where the step has its own
  set_rank_option(plan.execution, "offload", true);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!in_ranks(c) || is_pipelined(c)) return not_for("a case of ranks, or of one that is told how ranks work");
  CheckedRun there = run_and_check(with_rank_option(c, "offload", true), subject);
  if (there.outcome.status == Status::not_run) return there.outcome;
  const Trace here = run(with_rank_option(c, "offload", false), subject);
  require_equal_bits(there.outcome, here, there.trace, {"unscale", "norm", "clip", "decay", "optimizer", "cast"},
                     "a step on the host left other bits than a step on the device");
  return settled(std::move(there.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "offload_changes_nothing",
    .family = "ranks",
    .statement = "A step whose parameters and state live on the host leaves what a step on the device leaves.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other gradients",
    .differs = differs,
    .weight = 0.4,
}};

}  // namespace
}  // namespace tally::offload_changes_nothing_law
