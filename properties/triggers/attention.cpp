// Attention: what a row sees, how many heads share one of k and v, and where blocks of keys begin and end.
#include "oracle/layers/attention.hpp"

#include <algorithm>

#include "properties/triggers/trigger.hpp"

namespace tally::attention_trigger {
namespace {

bool is_attention(const Layer& l) { return l.kind == "attention"; }
bool attends(const Sight& s) { return s.any_layer(is_attention); }
bool longest_at_least(const Sight& s, std::int64_t rows) {
  return attends(s) && !s.c.sequences.empty() && std::ranges::max(s.c.sequences) >= rows;
}
bool has_length(const Sight& s, std::int64_t rows) {
  return attends(s) && std::ranges::find(s.c.sequences, rows) != s.c.sequences.end();
}

template <class Holds>
bool any_attention(const Sight& s, Holds holds) {
  return std::ranges::any_of(s.c.model.layers, [&](const Layer& l) { return is_attention(l) && holds(l); });
}

bool two_keys(const Sight& s) { return longest_at_least(s, 2); }
bool one_row(const Sight& s) { return has_length(s, 1); }
bool less_than_a_block(const Sight& s) { return has_length(s, 15); }
bool a_block(const Sight& s) { return has_length(s, 16); }
bool more_than_a_block(const Sight& s) { return longest_at_least(s, 17); }
bool shares_heads(const Sight& s) {
  return any_attention(s, [](const Layer& l) { return key_heads_of(l) < l.integer("heads"); });
}
bool shares_several(const Sight& s) {
  return any_attention(s, [](const Layer& l) { return key_heads_of(l) > 1 && key_heads_of(l) < l.integer("heads"); });
}
bool sees_both_ways(const Sight& s) {
  return any_attention(s, [](const Layer& l) { return !l.flag("causal"); });
}
bool short_window(const Sight& s) {
  return any_attention(
      s, [&](const Layer& l) { return l.integer("window") > 0 && longest_at_least(s, l.integer("window") + 1); });
}
bool own_scale(const Sight& s) {
  return any_attention(s, [](const Layer& l) { return l.number("scale").to_double() != 0; });
}
bool drops(const Sight& s) { return any_attention(s, drops_weights); }
bool drops_and_recomputes(const Sight& s) { return drops(s) && s.c.execution.recompute; }
bool packed(const Sight& s) {
  if (!attends(s)) return false;
  std::size_t micro_batches = 0;
  for (const auto& window : s.c.windows) micro_batches += window.size();
  return s.c.sequences.size() > micro_batches;
}

const RegisterTriggers registered{
    12,
    "attention",
    {{"row that sees two keys", TriggerKind::of_case, "the weights are no longer 1", two_keys},
     {"row that sees itself alone", TriggerKind::of_case, "its scores have no gradient", one_row},
     {"sequence of one key less than a block", TriggerKind::of_case, "", less_than_a_block},
     {"sequence of as many keys as a block", TriggerKind::of_case, "", a_block},
     {"sequence of several blocks of keys", TriggerKind::of_case, "what came before is scaled again",
      more_than_a_block},
     {"sequences packed into a micro-batch", TriggerKind::of_case, "a row sees its own alone", packed},
     {"heads that share k and v", TriggerKind::of_case, "their gradients are sums over heads", shares_heads},
     {"heads that share several of k and v", TriggerKind::of_case, "tiled they would be others", shares_several},
     {"attention that is not causal", TriggerKind::of_case, "", sees_both_ways},
     {"window shorter than a sequence", TriggerKind::of_case, "", short_window},
     {"scale that is given", TriggerKind::of_case, "", own_scale},
     {"weights that are dropped", TriggerKind::of_case, "the mask belongs to sequence, head, query and key", drops},
     {"weights that are dropped, and recomputation", TriggerKind::of_case, "the same must be dropped again",
      drops_and_recomputes}}};

}  // namespace
}  // namespace tally::attention_trigger
