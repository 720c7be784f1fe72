// The gradient of an output that several layers read, (add.3): what its readers gave, the last one's first, as they
// come in backward. Every sum is stored. The norm behind a residual sum may have added them.
#include "kernels/training_step/add_norm.hpp"
#include "kernels/training_step/stages.hpp"

namespace tally::stage {

void fork(Run& run, LayerState& layer, int k) {
  const Dtype storage = run.c.precision.storage;
  const std::int64_t rows = run.rows(k);
  void* sum = layer.dy.row(run.first_row_alive(k));
  const void* before = nullptr;
  const bool added = norm_adding_back_to(run, layer) != nullptr;
  for (auto reader = layer.readers.rbegin(); reader != layer.readers.rend(); ++reader) {
    const LayerState& from = run.layers[reader->layer];
    void* given = run.given_by(*reader, k);
    run.tap("fork", "in.d." + from.label + "." + input_word(*from.layer, from.inputs.size(), reader->input), given,
            storage, {rows, layer.out});
    if (before != nullptr) {
      if (!added) run.launch<AddArguments>("gradient.add", {storage, before, given, sum, rows * layer.out});
      before = sum;
    } else {
      before = given;
    }
  }
  run.tap("fork", "d." + layer.label + ".y", sum, storage, {rows, layer.out});
}

}  // namespace tally::stage
