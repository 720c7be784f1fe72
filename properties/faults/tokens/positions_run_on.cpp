// Positions count the rows of a micro-batch on, and do not begin again with every sequence.
#include <algorithm>

#include "properties/faults/seeded.hpp"
#include "properties/faults/tokens/last_position.hpp"

namespace tally::positions_run_on_fault {
namespace {

Tensor positions_running_on(const Run& run) {
  const std::int64_t last = last_position(run);
  Tensor positions(Dtype::i64, run.positions.shape);
  std::size_t row = 0;
  for (const auto& window : run.c.windows)
    for (const std::int64_t rows : window)
      for (std::int64_t i = 0; i < rows; ++i) positions.set_bits(row++, static_cast<std::uint64_t>(std::min(i, last)));
  return positions;
}

void forward(Run& run) {
  if (!run.positions || run.recomputing) return stage::forward(run);
  run.positions = DeviceTensor(run.device, "positions", positions_running_on(run));
  stage::forward(run);
}

const RegisterFault registered{{
    .name = "positions-run-on",
    .stage = "forward",
    .right = "position 0 at the start of a sequence",
    .wrong = "positions go on over the sequences of a micro-batch",
    .condition = "several sequences in a micro-batch, and positions",
    .knob = "none",
    .source = "pytorch/torchtitan 2559, allenai/OLMo-core 591, epfLLM/Megatron-LLM 23",
    .laws = {"token_counts_are_weighted", "names_of_tokens_do_not_matter"},
    .stages = replaced<&Stages::forward, forward>,
}};

}  // namespace
}  // namespace tally::positions_run_on_fault
