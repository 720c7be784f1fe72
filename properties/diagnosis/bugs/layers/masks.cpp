// Bugs of masks: other elements dropped when forward is run again, packed documents that are told apart by nothing.
#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/case/contract.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/layers/heads.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/bugs/layers/layer_bugs.hpp"
#include "properties/diagnosis/formulas.hpp"
#include "properties/diagnosis/settings.hpp"

// The forward pass that is run again drops other elements; what follows is computed from them.
namespace tally::other_mask_again_bug {
namespace {

/// What the layer before leaves of what backward read of it; nullopt for a layer that is not computed here.
std::optional<Values> after(const Evidence& evidence, const HeldTensor& held, std::size_t layer) {
  const std::string label = label_of(evidence.c.model, layer), kind = evidence.c.model.layers[layer].kind;
  const auto read = [&](const std::string& tensor) {
    return evidence.tap(held.name.window, held.name.micro_batch, "backward", "in." + label + tensor);
  };
  auto x = read(".x");
  if (!x) return std::nullopt;
  if (kind == kinds::linear) {
    const auto weight = read(".weight"), bias = read(".bias");
    const auto in = static_cast<std::size_t>(features_before(evidence.c.model, layer));
    if (!weight || !bias) return std::nullopt;
    Values y(held.got.size(), 0.0);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t column = i % bias->size(), row = i / bias->size();
      y[i] = (*bias)[column];
      for (std::size_t k = 0; k < in; ++k) y[i] += (*x)[row * in + k] * (*weight)[column * in + k];
    }
    return y;
  }
  if (!is_activation(*find_contract("layer", kind))) return std::nullopt;
  return activated(evidence.c.model.layers[layer], *x);
}

/// Behind the dropout every element is either dropped or kept, whichever is nearer.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const Model& model = evidence.c.model;
  const auto layer = layer_at(evidence, held, "in.", "", ".x");
  if (!layer || first_input_of(model, *layer) == model_input) return std::nullopt;
  const auto from = static_cast<std::size_t>(first_input_of(model, *layer));
  if (model.layers[from].kind != kinds::dropout) return after(evidence, held, from);
  const double kept = 1 / (1 - model.layers[from].number("p").to_double());
  const std::string label = label_of(model, from);
  auto x = evidence.tap(held.name.window, held.name.micro_batch, "backward", "in." + label + ".x");
  if (!x) return std::nullopt;
  for (std::size_t i = 0; i < x->size(); ++i) {
    const double whole = kept * (*x)[i];
    (*x)[i] = std::fabs(held.got[i] - whole) < std::fabs(held.got[i]) ? whole : 0;
  }
  return x;
}

const RegisterBug registered{{
    .name = "recompute-draws-again",
    .stages = {"backward"},
    .sentence = "the recomputed forward pass of a checkpoint drops other elements than the first one",
    .formula = "x = forward by another mask",
    .remedy = "keep the random state in the checkpoint: `checkpoint(…, preserve_rng_state=True)`",
    .left = left,
    .parameters = 1,
}};

}  // namespace
}  // namespace tally::other_mask_again_bug

// Packed documents are told apart by nothing: attention sees all rows of the micro-batch, or positions count on over it.
namespace tally::packed_sequences_bug {
namespace {

/// The kind of layer that the failing tensor belongs to.
std::string failing_kind(const Evidence& evidence) {
  return layer_kind_of(evidence.c, tap_name_of(evidence.check.tap).tensor);
}

// Attention sees the rows before a row's sequence.
namespace attention_crosses {

/// The case whose micro-batches are one sequence each, its positions those that it had.
Case as_one_sequence(Case c) {
  if (c.sequences.empty()) return c;
  c.sequences.clear();
  for (const auto& window : c.windows) c.sequences.insert(c.sequences.end(), window.begin(), window.end());
  return c;
}

/// Whether weights are dropped by a mask, which has no element for rows of two sequences.
bool drops_weights_by_mask(const Model& model) {
  return std::ranges::any_of(model.layers,
                             [](const Layer& l) { return l.kind == kinds::attention && drops_weights(l); });
}

std::vector<Hypothesis> ways(const Evidence& evidence) {
  std::vector<Hypothesis> all;
  if (!affordable(evidence, 1) || failing_kind(evidence) != kinds::attention) return all;
  if (drops_weights_by_mask(evidence.c.model)) return all;
  const Case other = as_one_sequence(evidence.c);
  if (other.sequences == evidence.c.sequences) return all;
  Hypothesis way{{},
                 "attention treats each micro-batch as one sequence: rows see the sequences before theirs",
                 "A(i) = rows of the micro-batch",
                 0};
  way.left = what_if(evidence, other, evidence.trace, &way.bounds);
  if (says_something(evidence, way)) all.push_back(std::move(way));
  return all;
}

const RegisterBug registered{{
    .name = "packed-attention-crosses",
    .stages = {"forward", "backward"},
    .sentence = "attention sees the rows of other sequences of the micro-batch",
    .formula = "A(i) = rows of the micro-batch",
    .remedy = "mask attention by sequence: pass the sequences' lengths (`cu_seqlens`) or a block mask",
    .hypotheses = ways,
}};

}  // namespace attention_crosses

// Positions go on over the sequences of a micro-batch.
namespace positions_run_on {

/// The last row of a table is not left.
std::int64_t last_position(const Model& model) {
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
  for (const Layer& layer : model.layers)
    if (const std::string& length = contract_of("layer", layer).table_length; !length.empty())
      last = std::min(last, layer.integer(length) - 1);
  return last;
}

/// The case whose positions count the rows of each micro-batch.
Case running_on(Case c) {
  std::vector<std::int64_t> positions;
  const std::int64_t last = last_position(c.model);
  for (const auto& window : c.windows)
    for (const std::int64_t rows : window)
      for (std::int64_t i = 0; i < rows; ++i) positions.push_back(std::min(i, last));
  Tensor tensor(Dtype::i64, {static_cast<std::int64_t>(positions.size())});
  for (std::size_t i = 0; i < positions.size(); ++i) tensor.set_bits(i, static_cast<std::uint64_t>(positions[i]));
  c.tensors["positions"] = std::move(tensor);
  return c;
}

/// What the positions themselves would be, where they were tapped.
std::optional<Values> positions_of(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.positions") return std::nullopt;
  Values values;
  const std::int64_t last = last_position(evidence.c.model);
  for (std::int64_t i = 0; i < evidence.rows(held.name.window, held.name.micro_batch); ++i)
    values.push_back(static_cast<double>(std::min(i, last)));
  return values;
}

std::vector<Hypothesis> ways(const Evidence& evidence) {
  const std::string tensor = tap_name_of(evidence.check.tap).tensor, kind = failing_kind(evidence);
  Hypothesis way{{}, "positions do not restart with each sequence of a micro-batch", "p_i = i", 0};
  if (tensor == "in.positions")
    for (const HeldTensor& held : evidence.held) way.left.push_back(positions_of(evidence, held));
  else if (affordable(evidence, 1) && (kind == kinds::rotary || kind == kinds::position_embedding))
    way.left = what_if(evidence, running_on(evidence.c), evidence.trace, &way.bounds);
  if (!says_something(evidence, way)) return {};
  return {std::move(way)};
}

const RegisterBug registered{{
    .name = "positions-run-on",
    .stages = {"forward", "backward"},
    .sentence = "positions do not restart with each sequence of a micro-batch",
    .formula = "p_i = i",
    .remedy = "restart positions with every sequence: pass `position_ids`",
    .hypotheses = ways,
}};

}  // namespace positions_run_on

}  // namespace
}  // namespace tally::packed_sequences_bug
