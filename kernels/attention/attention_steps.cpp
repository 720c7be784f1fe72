// How a step runs attention, and the rotary layer before it by a table of turns.
#include <cmath>

#include "kernels/attention/rotary.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/training_step/run/run_state.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/layers/heads.hpp"

// y and the lse of every row and head, (attention.1) to (attention.3); then delta, (attention.4), and the gradients of
// q, k and v, (attention.5) to (attention.7).
namespace tally::attention_steps {
namespace {

float scale_of(const Choice& attention, std::int64_t size) {
  const double given = attention.number("scale").to_double();
  return static_cast<float>(given != 0 ? given : 1 / std::sqrt(static_cast<double>(size)));
}

AttentionArguments arguments(Run& run, LayerState& layer, int k) {
  const Choice& attention = *layer.layer;
  const std::int64_t heads = attention.integer("heads"), size = layer.in / heads;
  const auto rows_of_batch = [&](const DeviceTensor& tensor) {
    return static_cast<const std::int64_t*>(tensor.row(run.first_row(k)));
  };
  AttentionArguments all{.storage = run.c.precision.storage,
                         .q = run.x_of(layer, k),
                         .k = run.x_of(layer, k, 1),
                         .v = run.x_of(layer, k, 2),
                         .begin = rows_of_batch(run.sequence_begin),
                         .end = rows_of_batch(run.sequence_end),
                         .rows = run.rows(k),
                         .heads = heads,
                         .kv_heads = key_heads_of(attention),
                         .size = size,
                         .causal = attention.flag("causal"),
                         .window = attention.integer("window"),
                         .scale = scale_of(attention, size),
                         .y = run.y_of(layer, k),
                         .lse = static_cast<float*>(run.rows_of(layer.lse, k)),
                         .delta = static_cast<float*>(run.rows_of(layer.delta, k)),
                         .sums = static_cast<float*>(layer.attention_sums.data())};
  if (!layer.mask) return all;
  all.mask = static_cast<const std::uint8_t*>(layer.mask.row(pairs_of(run.c, 0, run.first_row(k))));
  all.pairs = pairs_of(run.c, run.first_row(k), run.rows(k));
  all.kept = static_cast<float>(1 / (1 - attention.number("p").to_double()));
  return all;
}

void forward(Run& run, LayerState& layer, int k) {
  run.launch<AttentionArguments>("attention.forward", arguments(run, layer, k));
}

void backward(Run& run, LayerState& layer, int k) {
  AttentionArguments at = arguments(run, layer, k);
  at.dy = run.dy_of(layer, k);
  run.launch<AttentionArguments>("attention.delta", at);
  run.tap("backward", layer.label + ".delta", at.delta, Dtype::fp32, {at.rows, at.heads});
  if (!layer.gives_dx) return;
  at.dq = run.dx_of(layer, k);
  at.dk = run.dx_of(layer, k, 1);
  at.dv = run.dx_of(layer, k, 2);
  run.launch<AttentionArguments>("attention.backward", at);
}

const RegisterKind<LayerSteps> registered("attention", {forward, backward});

}  // namespace
}  // namespace tally::attention_steps

namespace tally {
namespace {

/// B^(-2 i / r) p in T, operation by operation as frameworks do: the power, its reciprocal, the product.
template <class T>
T angle(const Choice& rotary, std::int64_t i, std::int64_t rotated, std::int64_t position) {
  const T exponent = static_cast<T>(2 * i) / static_cast<T>(rotated);
  return 1 / std::pow(static_cast<T>(rotary.number("base").to_double()), exponent) * static_cast<T>(position);
}

/// The value in S.
double stored(Dtype storage, float value) {
  Tensor one(storage, {1});
  one.set(0, static_cast<double>(value));
  return static_cast<double>(one.value(0));
}

}  // namespace

Tensor turns_of(const Choice& rotary, const RotaryPairs& pairs, const Tensor& positions, TableOf table, Dtype storage) {
  Tensor turns(Dtype::fp32, {static_cast<std::int64_t>(positions.elements()), pairs.rotated});
  const auto rotated = static_cast<std::size_t>(pairs.rotated);
  for (std::size_t row = 0; row < positions.elements(); ++row) {
    for (std::size_t i = 0; i < rotated / 2; ++i) {
      const auto pair = static_cast<std::int64_t>(i);
      const std::size_t cosine = row * rotated + i, sine = cosine + rotated / 2;
      if (table == TableOf::binary64) {
        const double by = angle<double>(rotary, pair, pairs.rotated, positions.integer(row));
        turns.set(cosine, std::cos(by));
        turns.set(sine, std::sin(by));
      } else {
        const auto by = angle<float>(rotary, pair, pairs.rotated, positions.integer(row));
        turns.set(cosine, stored(storage, std::cos(by)));
        turns.set(sine, stored(storage, std::sin(by)));
      }
    }
  }
  return turns;
}

}  // namespace tally

// y, (rotary.1), and dx, (rotary.2), by a table of the window's rows.
namespace tally::rotary_steps {
namespace {

RotaryArguments arguments_of(Run& run, LayerState& layer, int k, const DeviceTensor& turns, bool back) {
  const RotaryPairs pairs(*layer.layer, layer.in);
  return {.storage = run.c.precision.storage,
          .x = back ? run.dy_of(layer, k) : run.x_of(layer, k),
          .y = back ? run.dx_of(layer, k) : run.y_of(layer, k),
          .turns = static_cast<const float*>(turns.row(run.first_row(k))),
          .rows = run.rows(k),
          .heads = pairs.heads,
          .size = pairs.size,
          .rotated = pairs.rotated,
          .interleaved = pairs.interleaved,
          .back = back};
}

void forward(Run& run, LayerState& layer, int k) {
  run.launch("rotary.forward", arguments_of(run, layer, k, layer.turns, false));
}

void backward(Run& run, LayerState& layer, int k) {
  if (!layer.gives_dx) return;
  run.launch("rotary.backward", arguments_of(run, layer, k, layer.turns_back, true));
}

const RegisterKind<LayerSteps> registered("rotary", {forward, backward});

}  // namespace
}  // namespace tally::rotary_steps
