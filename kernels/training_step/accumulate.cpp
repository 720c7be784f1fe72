#include "kernels/training_step/stages.hpp"
#include "oracle/case/pipeline.hpp"

namespace tally::stage {

void accumulate(Run& run) {
  const int k = run.micro_batch;
  const auto micro_batches = static_cast<int>(run.c.windows[static_cast<std::size_t>(run.window)].size());
  for (Parameter& parameter : run.parameters) {
    if (parameter.into_buffer) continue;  // backward's product has added it
    if (parameter.layer < run.part_begin || parameter.layer >= run.part_end) continue;  // of another part of a pipeline
    void* gradient = parameter.reduced ? parameter.reduced.data() : run.gradient_of(&parameter, k);
    const Dtype format = parameter.reduced ? parameter.reduced.dtype : parameter.gradient.dtype;
    run.tap("accumulate", "in.d." + parameter.name, gradient, format, parameter.master.shape);
    run.tap("accumulate", "in.buffer." + parameter.name, parameter.buffer);
    DeviceTensor& compensation = parameter.compensation;
    if (compensation && backward_before(run.c, micro_batches, k) < 0)
      compensation.zero_on(run.stream);  // also where the buffer was cleared by another than begin_window
    if (compensation) run.tap("accumulate", "in.compensation." + parameter.name, compensation);
    run.launch<AccumulateArguments>(
        "accumulate", {format, gradient, parameter.buffer.data(), parameter.elements, parameter.buffer.dtype,
                       compensation ? compensation.data() : nullptr});
    run.tap("accumulate", "buffer." + parameter.name, parameter.buffer);
    if (compensation) run.tap("accumulate", "compensation." + parameter.name, compensation);
  }
}

}  // namespace tally::stage
