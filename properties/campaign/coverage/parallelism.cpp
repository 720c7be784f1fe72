// Coverage of statistics that ranks share of a micro-step, and of the stages of a pipeline.
#include <algorithm>
#include <cmath>

#include "oracle/case/contract.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "properties/campaign/coverage/coverage_point.hpp"

namespace tally::micro_steps_trigger {
namespace {

bool shares(const Sight& s) { return most_ranks_of(s.c) > 1 && pools_steps(s.c); }

template <StepStatistics by>
bool shares_by(const Sight& s) {
  return shares(s) && step_statistics_of(s.c) == by;
}

/// Whether something holds of the rows that each rank has in some micro-step.
template <class Holds>
bool any_step(const Sight& s, Holds holds) {
  for (std::size_t w = 0; shares(s) && w < s.windows(); ++w)
    for (std::size_t k = 0; k < micro_steps_of(s.c, w); ++k)
      if (holds(step_counts(s.c, w, k))) return true;
  return false;
}

using Counts = std::vector<std::int64_t>;

bool without_rows(const Sight& s) {
  return any_step(s, [](const Counts& rows) { return std::ranges::count(rows, 0) > 0; });
}
bool one_row(const Sight& s) {
  return any_step(s, [](const Counts& rows) { return std::ranges::count(rows, 1) > 0; });
}
bool unequal_rows(const Sight& s) {
  return any_step(s, [](const Counts& rows) {
    Counts some = rows;
    std::erase(some, 0);
    return std::ranges::adjacent_find(some, std::ranges::not_equal_to{}) != some.end();
  });
}
bool several_steps(const Sight& s) {
  for (std::size_t w = 0; shares(s) && w < s.windows(); ++w)
    if (micro_steps_of(s.c, w) > 1) return true;
  return false;
}
bool beside_recomputation(const Sight& s) { return shares(s) && s.c.execution.recompute; }

const Register<TriggerGroup> registered{
    {15,
     "micro-steps",
     {{"moments of ranks merged", TriggerKind::of_case, "micro_step statistics", shares_by<StepStatistics::moments>},
      {"sums of ranks for statistics", TriggerKind::of_case, "of x and of its squares",
       shares_by<StepStatistics::sums>},
      {"sums of ranks in two rounds", TriggerKind::of_case, "the second around the common mean",
       shares_by<StepStatistics::two_pass>},
      {"a rank without rows in a micro-step", TriggerKind::of_case, "it takes part all the same", without_rows},
      {"a rank with one row in a micro-step", TriggerKind::of_case, "", one_row},
      {"unequal rows of ranks in a micro-step", TriggerKind::of_case, "", unequal_rows},
      {"several micro-steps", TriggerKind::of_case, "statistics are not the window's", several_steps},
      {"recomputation beside shared statistics", TriggerKind::of_case, "ranks meet once", beside_recomputation}}}};

}  // namespace
}  // namespace tally::micro_steps_trigger

namespace tally::pipeline_trigger {
namespace {

bool pipelined(const Sight& s) { return is_pipelined(s.c); }

bool on_ranks(const Sight& s) { return is_pipelined(s.c) && ranks_of(s.c) > 1; }

/// A rank has so many micro-batches of some window beside its stages: fewer, as many, more.
template <class Holds>
bool any_window(const Sight& s, Holds holds) {
  for (std::size_t w = 0; w < s.c.windows.size() && is_pipelined(s.c); ++w)
    for (std::size_t rank = 0; rank < ranks_of(s.c); ++rank)
      if (holds(micro_batches_of(s.c, w, rank), stages_of(s.c))) return true;
  return false;
}
bool fewer_than_stages(const Sight& s) {
  return any_window(s, [](std::size_t batches, std::size_t stages) { return batches < stages; });
}
bool as_many_as_stages(const Sight& s) {
  return any_window(s, [](std::size_t batches, std::size_t stages) { return batches == stages; });
}
bool more_than_stages(const Sight& s) {
  return any_window(s, [](std::size_t batches, std::size_t stages) { return batches > stages; });
}

bool by(const Sight& s, std::string_view schedule) { return is_pipelined(s.c) && pipeline_schedule(s.c) == schedule; }
bool by_gpipe(const Sight& s) { return by(s, "gpipe"); }
bool by_1f1b(const Sight& s) { return by(s, "1f1b") && more_than_stages(s); }
bool interleaved(const Sight& s) { return by(s, "interleaved"); }
bool last_first(const Sight& s) {
  return goes_back_last_first(s.c) && any_window(s, [](std::size_t batches, std::size_t) { return batches > 1; });
}

bool a_stage_without_parameters(const Sight& s) {
  std::vector<bool> has(stages_of(s.c));
  for (const std::string& p : parameters_of(s.c.model)) has[stage_with_tensor(s.c, p)] = true;
  return is_pipelined(s.c) && std::ranges::count(has, false) > 0;
}
bool shared_on_stages(const Sight& s) { return on_ranks(s) && shards_optimizer(s.c); }
bool of_tokens(const Sight& s) { return is_pipelined(s.c) && s.c.model.tokens; }
bool summed_behind_a_cut(const Sight& s) {
  for (std::size_t i = 0; i < s.c.model.layers.size(); ++i)
    if (is_summed_behind(s.c, i) && graph_of(s.c.model).reached[i]) return true;
  return false;
}
bool norm_of_stages(const Sight& s) { return is_pipelined(s.c) && clips_by_norm(s.c.recipe.clip); }

bool overflow_on_one(const Sight& s) {
  for (std::size_t w = 0; is_pipelined(s.c) && w < s.windows(); ++w) {
    std::vector<bool> over(stages_of(s.c));
    for (const std::string& p : parameters_of(s.c.model)) {
      const Tensor* sum = s.tap(w, "reduce", "reduced." + p);
      for (std::size_t i = 0; sum != nullptr && i < sum->elements(); ++i)
        if (!std::isfinite(sum->value(i))) over[stage_with_tensor(s.c, p)] = true;
    }
    const auto found = static_cast<std::size_t>(std::ranges::count(over, true));
    if (found > 0 && found < over.size()) return true;
  }
  return false;
}

const Register<TriggerGroup> registered{
    {15,
     "pipelines",
     {{"a model cut into stages", TriggerKind::of_case, "", pipelined},
      {"stages on each of several ranks", TriggerKind::of_case, "", on_ranks},
      {"fewer micro-batches than stages", TriggerKind::of_case, "", fewer_than_stages},
      {"as many micro-batches as stages", TriggerKind::of_case, "", as_many_as_stages},
      {"more micro-batches than stages", TriggerKind::of_case, "", more_than_stages},
      {"a pipeline that fills before it empties", TriggerKind::of_case, "gpipe", by_gpipe},
      {"a pipeline that goes forward and back in turn", TriggerKind::of_case, "1f1b, K > P", by_1f1b},
      {"a pipeline of several chunks a stage", TriggerKind::of_case, "interleaved", interleaved},
      {"micro-batches that go back last first", TriggerKind::of_case, "lifo, K > 1", last_first},
      {"a stage without a parameter", TriggerKind::of_case, "", a_stage_without_parameters},
      {"a shared optimizer on the stages of several ranks", TriggerKind::of_case, "sharding", shared_on_stages},
      {"a language model cut into stages", TriggerKind::of_case, "", of_tokens},
      {"a gradient summed behind a cut", TriggerKind::of_case, "several layers read what came", summed_behind_a_cut},
      {"one norm over stages", TriggerKind::of_case, "clip by norm", norm_of_stages},
      {"overflow on one stage only", TriggerKind::of_case, "of its sums one is not finite", overflow_on_one}}}};

}  // namespace
}  // namespace tally::pipeline_trigger
