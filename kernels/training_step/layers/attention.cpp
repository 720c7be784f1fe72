// y and the lse of every row and head, (attention.1) to (attention.3); then delta, (attention.4), and the gradients of
// q, k and v, (attention.5) to (attention.7).
#include "oracle/layers/attention.hpp"

#include <cmath>

#include "kernels/training_step/run_state.hpp"
#include "oracle/case/pairs.hpp"

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

const RegisterLayerSteps registered("attention", {forward, backward});

}  // namespace
}  // namespace tally::attention_steps
