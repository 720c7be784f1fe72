// Stages of a pipeline.
#include "oracle/case/pipeline.hpp"

#include <algorithm>
#include <cmath>

#include "oracle/case/graph.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/shards.hpp"
#include "properties/triggers/trigger.hpp"

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

const RegisterTriggers registered{
    15,
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
     {"overflow on one stage only", TriggerKind::of_case, "of its sums one is not finite", overflow_on_one}}};

}  // namespace
}  // namespace tally::pipeline_trigger
