// Before a window's first micro-batch: empty buffers, no overflow seen, the scale the last window left, its items
// counted; of ranks the first one's running values.
#include "kernels/ranks/division.hpp"
#include "kernels/training_step/count.hpp"
#include "kernels/training_step/running_values.hpp"
#include "kernels/training_step/stages.hpp"

namespace tally::stage {

void begin_window(Run& run) {
  for (std::deque<Parameter>* all : {&run.parameters, &run.shards})
    for (Parameter& parameter : *all) {
      if (run.options.accumulate && parameter.buffer) parameter.buffer.zero_on(run.stream);
      if (parameter.compensation) parameter.compensation.zero_on(run.stream);
    }
  run.found = false;
  run.found_flag.zero_on(run.stream);
  if (run.window > 0) {  // the first window's stand since the run was built: no wait for the device
    run.window_scale = run.scale.scalar<float>();
    run.inverse_scale.set_scalar(static_cast<float>(1.0 / static_cast<double>(run.window_scale)));
  }
  count(run);
  take_first_running(run);
  if (run.options.link != nullptr && rank_division(run.c, 1).when_unscaling &&
      run.c.normalisation == Normalisation::window_items) {
    const double by = static_cast<double>(run.window_scale) * run.window_items;
    run.inverse_scale.set_scalar(by == 0 ? 0.0f : static_cast<float>(1.0 / by));
  }
}

void end_window(Run&) {}

}  // namespace tally::stage
