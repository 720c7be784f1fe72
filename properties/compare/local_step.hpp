// Statistics that ranks put together of a micro-step, under the local lens: what each rank works out of its own rows is
// held to them, and what all have of it to what all handed over.
#pragma once

#include "properties/compare/local_walk.hpp"

namespace tally {

/// Before the layer's rows are normalised, of walk.micro_batch: what it worked out of x, and what all have. Adds what
/// its forward then reads to `inputs`.
void check_step_statistics(LocalWalk& walk, const LayerView& layer, const Tensor* x, LayerInputs& inputs);
/// Before its dx, the same of the two sums over rows.
void check_step_gradients(LocalWalk& walk, const LayerView& layer, const Tensor* x, const Tensor* dy,
                          LayerInputs& inputs);
/// A micro-step in which this rank has no rows: what it takes part in.
void check_step_without_rows(LocalWalk& walk);
/// One update of both running values by the tapped statistics over so many rows.
void check_update(LocalWalk& walk, const LayerView& layer, std::int64_t rows);
/// Whether ranks put the layer's statistics together.
bool pools(const Case& c, const LayerView& layer);

}  // namespace tally
