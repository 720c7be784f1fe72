// Positions count the columns of a line, padding on its left among them, and not the rows of its sequence.
#include <algorithm>

#include "oracle/case/sequences.hpp"
#include "properties/faults/seeded.hpp"
#include "properties/faults/tokens/last_position.hpp"
#include "properties/faults/tokens/rows_of_padding.hpp"

namespace tally::left_padding_shifts_positions_fault {
namespace {

Tensor columns(const Run& run) {
  Tensor positions = positions_of(run.c);
  positions.drawing.reset();
  const std::vector<std::int64_t> places = places_in_sequences(run.c), padding = padding_up_to(run.c);
  const std::int64_t last = last_position(run);
  std::int64_t shift = 0;
  for (std::size_t row = 0; row < places.size(); ++row) {
    if (places[row] == 0) shift = padding[row] == 0 && row > 0 ? padding[row - 1] : 0;
    const std::int64_t column = std::min(positions.integer(row) + shift, last);
    positions.set_bits(row, static_cast<std::uint64_t>(column));
  }
  return positions;
}

void forward(Run& run) {
  if (!run.positions || run.recomputing) return stage::forward(run);
  run.positions = DeviceTensor(run.device, "positions", columns(run));
  stage::forward(run);
}

const RegisterFault registered{{
    .name = "left-padding-shifts-positions",
    .stage = "forward",
    .right = "position 0 at the start of a sequence",
    .wrong = "position 0 at the start of a line",
    .condition = "padding on the left, and positions",
    .knob = "none",
    .source = "tloen/alpaca-lora 315, ndif-team/nnsight 672",
    .laws = {"padding_leaves_nothing"},
    .stages = replaced<&Stages::forward, forward>,
}};

}  // namespace
}  // namespace tally::left_padding_shifts_positions_fault
