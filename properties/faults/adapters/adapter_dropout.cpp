#include "properties/faults/adapters/adapter_dropout.hpp"

#include <algorithm>

#include "properties/faults/planted_between.hpp"

namespace tally {
namespace {

bool is_of_an_adapter(const Run& run, const LayerState& layer) {
  return layer.layer->kind == "dropout" && std::ranges::any_of(run.layers, [&](const LayerState& other) {
           return other.layer->kind == "linear" && !other.layer->trainable && other.inputs == layer.inputs;
         });
}

}  // namespace

void with_adapter_dropout(Run& run, const LayerSteps& steps, Stage stage) {
  std::vector<const LayerSteps*> shipped;
  for (LayerState& layer : run.layers) {
    shipped.push_back(layer.steps);
    if (is_of_an_adapter(run, layer)) layer.steps = &steps;
  }
  stage(run);
  for (std::size_t i = 0; i < shipped.size(); ++i) run.layers[i].steps = shipped[i];
}

void without_dropout(Run& run, LayerState& layer, int k, const void* from, void* to,
                     void (*right)(Run& run, LayerState& layer, int k)) {
  const Dtype storage = run.c.precision.storage;
  const std::int64_t elements = run.rows(k) * layer.in;
  between(
      run.stream, {{to, storage, elements}}, [&] { right(run, layer, k); },
      [&] {
        run.stream.synchronize();
        Tensor kept(storage, {elements});
        run.device.read(from, kept.bytes.data(), kept.bytes.size());
        run.device.write(to, kept.bytes.data(), kept.bytes.size());
      });
}

}  // namespace tally
