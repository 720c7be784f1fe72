#include "oracle/layers/attention.hpp"

#include <algorithm>

#include "oracle/case/pairs.hpp"
#include "oracle/case/sizes.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

std::vector<Misfit> sizes(const Choice& layer, const std::vector<std::int64_t>& features) {
  if (features.size() != 3) return {};  // the list of inputs says so itself
  const std::int64_t heads = layer.integer("heads"), groups = key_heads_of(layer);
  if (heads % groups != 0)
    return {{"kv_heads", std::to_string(groups), "a divisor of " + std::to_string(heads) + ", the heads"}};
  if (features[0] % heads != 0)
    return {{"inputs[0]", std::to_string(features[0]) + " features",
             "a multiple of " + std::to_string(heads) + ", the heads"}};
  const std::int64_t wanted = features[0] / heads * groups;
  std::vector<Misfit> found;
  for (const std::size_t j : {std::size_t{1}, std::size_t{2}})
    if (features[j] != wanted)
      found.push_back({"inputs[" + std::to_string(j) + "]", std::to_string(features[j]) + " features",
                       std::to_string(wanted) + ": " + std::to_string(groups) + " heads of " +
                           std::to_string(features[0] / heads)});
  return found;
}

const RegisterContract registered{
    {.section = "layer",
     .kind = "attention",
     .options =
         {{.name = "heads", .type = OptionType::integer, .standard = std::nullopt, .range = {.at_least = "1"}},
          {.name = "kv_heads", .type = OptionType::integer, .standard = std::int64_t{0}, .range = {.at_least = "0"}},
          {.name = "causal", .type = OptionType::boolean, .standard = true},
          {.name = "window",
           .type = OptionType::integer,
           .standard = std::int64_t{0},
           .range = {.at_least = "0", .at_most = "1099511627776"}},
          {.name = "scale", .type = OptionType::number, .standard = Decimal{"0"}, .range = {.at_least = "0"}},
          {.name = "p",
           .type = OptionType::number,
           .standard = Decimal{"0"},
           .range = {.at_least = "0", .below = "1"},
           .since = 2}},
     .tensors = {{.name = "mask",
                  .role = Role::mask,
                  .shape = [](const Choice& layer, std::int64_t) -> std::vector<std::int64_t> {
                    return {layer.integer("heads"), pairs_in_place};
                  },
                  .present = [](const Choice& layer) { return drops_weights(layer); }}},
     .drawn = false,
     .least_inputs = 3,
     .most_inputs = 3,
     .input_words = {"q", "k", "v"},
     .input_misfits = sizes,
     .reads_sequences = true,
     .row_statistics = {{.name = "lse", .per = "heads"}},
     .backward_statistics = {{.name = "delta", .per = "heads"}},
     .kept_for_backward = {"y", "lse"},
     .definition = "y = softmax(scale q kᵀ) v, head by head, over the rows of a row's sequence that it sees; "
                   "the weights times mask / (1 - p), which belongs to sequence, head, query and key"}};

template <class Add>
std::vector<std::int64_t> of_attentions(const Case& c, Add add) {
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i)
    if (c.model.layers[i].kind == "attention") add(found, i);
  return found;
}

std::vector<std::int64_t> keys_of_sequences(const Case& c) {
  return of_attentions(c, [&](auto& found, std::size_t) { found = c.sequences; });
}
/// Of windows that some sequence is longer than: others hide nothing.
std::vector<std::int64_t> keys_of_windows(const Case& c) {
  return of_attentions(c, [&](auto& found, std::size_t i) {
    const std::int64_t window = c.model.layers[i].integer("window");
    const bool hides = std::ranges::any_of(c.sequences, [&](std::int64_t length) { return length > window; });
    if (window > 0 && hides) found.push_back(window);
  });
}
std::vector<std::int64_t> readers_of_a_head(const Case& c) {
  return of_attentions(c, [&](auto& found, std::size_t i) {
    found.push_back(c.model.layers[i].integer("heads") / key_heads_of(c.model.layers[i]));
  });
}
std::vector<std::int64_t> key_heads(const Case& c) {
  return of_attentions(c, [&](auto& found, std::size_t i) { found.push_back(key_heads_of(c.model.layers[i])); });
}
std::vector<std::int64_t> features_of_heads(const Case& c) {
  return of_attentions(c, [&](auto& found, std::size_t i) {
    found.push_back(features_before(c.model, i) / c.model.layers[i].integer("heads"));
  });
}

const RegisterSize registered_keys{{.name = "keys of a sequence", .least = 1, .in = keys_of_sequences}};
const RegisterSize registered_windows{{.name = "keys of a sliding window", .least = 1, .in = keys_of_windows}};
const RegisterSize registered_readers{
    {.name = "query heads that read one head of k and v", .least = 1, .in = readers_of_a_head}};
const RegisterSize registered_key_heads{{.name = "heads of k and v", .least = 1, .in = key_heads}};
const RegisterSize registered_features{{.name = "features of a head", .least = 1, .in = features_of_heads}};

}  // namespace

std::int64_t key_heads_of(const Choice& attention) {
  const std::int64_t groups = attention.integer("kv_heads");
  return groups == 0 ? attention.integer("heads") : groups;
}

bool drops_weights(const Choice& attention) { return attention.number("p").to_double() != 0; }

}  // namespace tally
