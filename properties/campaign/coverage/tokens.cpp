// Coverage of models over tokens: sequences, labels, positions, and what attention sees.
#include <algorithm>
#include <functional>
#include <map>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/layers/heads.hpp"
#include "properties/campaign/coverage/coverage_point.hpp"

// Models over tokens: sequences, shifted labels, tokens that occur or do not, positions.
namespace tally::tokens_trigger {
namespace {

bool any_tokens(const Sight& s) { return s.c.model.tokens; }
bool shifted(const Sight& s) { return shifts_labels(s.c.model.loss); }

/// The rows of every micro-batch of the first window, and its sequences.
struct Batch {
  std::int64_t first, rows;
  std::vector<std::int64_t> lengths;
};
std::vector<Batch> batches(const Case& c) {
  std::vector<Batch> all;
  std::size_t next = 0;
  for (std::size_t w = 0; w < c.windows.size(); ++w)
    for (std::size_t k = 0; k < c.windows[w].size(); ++k) {
      Batch& batch = all.emplace_back(Batch{first_row(c, w, k), c.windows[w][k], {}});
      for (std::int64_t left = batch.rows; left > 0 && next < c.sequences.size(); left -= c.sequences[next++])
        batch.lengths.push_back(c.sequences[next]);
    }
  return all;
}

template <class Holds>
bool any_batch(const Sight& s, Holds holds) {
  const std::vector<Batch> all = batches(s.c);
  return s.c.model.tokens && std::ranges::any_of(all, holds);
}

bool sequence_of_one(const Sight& s) {
  return s.c.model.tokens && std::ranges::find(s.c.sequences, 1) != s.c.sequences.end();
}
bool several_sequences(const Sight& s) {
  return any_batch(s, [](const Batch& b) { return b.lengths.size() >= 3 && std::ranges::max(b.lengths) > 1; });
}
bool unequal_sequences(const Sight& s) {
  return any_batch(
      s, [](const Batch& b) { return std::ranges::adjacent_find(b.lengths, std::not_equal_to{}) != b.lengths.end(); });
}
bool first_label_counts(const Sight& s) {
  if (!shifted(s)) return false;
  const std::vector<std::int64_t> places = places_in_sequences(s.c);
  const Tensor& target = s.c.tensors.at("target");
  for (std::size_t row = 0; row < places.size(); ++row)
    if (places[row] == 0 && target.integer(row) != s.c.model.loss.integer("ignore_index")) return true;
  return false;
}
bool nothing_scored(const Sight& s) {
  return any_batch(s, [&](const Batch& b) {
    for (std::int64_t row = b.first; row < b.first + b.rows; ++row)
      if (item_weight(s.c, row).to_double() != 0) return false;
    return true;
  });
}

/// How often the token that is most frequent in one micro-batch occurs there.
std::int64_t most_repeats(const Sight& s) {
  std::int64_t most = 0;
  if (!s.c.model.tokens) return most;
  for (const Batch& batch : batches(s.c)) {
    std::map<std::int64_t, std::int64_t> counts;
    for (std::int64_t row = batch.first; row < batch.first + batch.rows; ++row)
      most = std::max(most, ++counts[s.c.tensors.at("tokens").integer(static_cast<std::size_t>(row))]);
  }
  return most;
}
bool token_repeats(const Sight& s) { return most_repeats(s) >= 3; }
bool token_is_absent(const Sight& s) {
  if (!s.c.model.tokens) return false;
  std::vector<bool> seen(static_cast<std::size_t>(s.c.model.input));
  const Tensor& tokens = s.c.tensors.at("tokens");
  for (std::size_t row = 0; row < tokens.elements(); ++row) seen[static_cast<std::size_t>(tokens.integer(row))] = true;
  return std::ranges::find(seen, false) != seen.end();
}
bool reads_places(const Sight& s) { return reads_positions(s.c.model); }
bool squares_the_sum(const Sight& s) { return z_loss_of(s.c.model.loss).to_double() != 0; }
bool tied(const Sight& s) {
  return s.any_layer([](const Layer& l) { return !l.tied.empty(); });
}
bool wide_vocabulary(const Sight& s) { return s.c.model.tokens && s.c.model.input >= 33; }

const Register<TriggerGroup> registered{
    {11,
     "tokens",
     {{"model over tokens", TriggerKind::of_case, "", any_tokens},
      {"shifted labels", TriggerKind::of_case, "a row is scored by the next one's label", shifted},
      {"sequence of one token", TriggerKind::of_case, "with shifted labels it scores nothing", sequence_of_one},
      {"three sequences in a micro-batch", TriggerKind::of_case, "its rows have boundaries inside", several_sequences},
      {"unequal sequences in a micro-batch", TriggerKind::of_case, "", unequal_sequences},
      {"first label is no ignored one", TriggerKind::of_case, "a count before the shift takes it in",
       first_label_counts},
      {"micro-batch of tokens without an item", TriggerKind::of_case, "", nothing_scored},
      {"token three times in a micro-batch", TriggerKind::of_case, "its gradient is a sum", token_repeats},
      {"token that never occurs", TriggerKind::of_case, "its gradient is 0", token_is_absent},
      {"learned positions", TriggerKind::of_case, "", reads_places},
      {"tied weight", TriggerKind::of_case, "its gradient is a sum over its uses", tied},
      {"vocabulary of 33 or more", TriggerKind::of_case, "a warp shares each row of the loss", wide_vocabulary},
      {"z-loss", TriggerKind::of_case, "", squares_the_sum}}}};

}  // namespace
}  // namespace tally::tokens_trigger

// Attention: what a row sees, how many heads share one of k and v, and where blocks of keys begin and end.
namespace tally::attention_trigger {
namespace {

bool is_attention(const Layer& l) { return l.kind == kinds::attention; }
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

const Register<TriggerGroup> registered{
    {12,
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
       drops_and_recomputes}}}};

}  // namespace
}  // namespace tally::attention_trigger
