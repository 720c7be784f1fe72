#include "kernels/training_step/kernel_clock.hpp"
#include "kernels/training_step/stages.hpp"

namespace tally::stage {

void cast(Run& run) {
  for (Parameter& parameter : run.parameters) {
    run.tap("cast", "in." + parameter.name, parameter.master);
    timed("cast", run.kernels.cast, run.stream,
          {parameter.copy.dtype, parameter.master.data(), parameter.copy.data(), parameter.elements,
           parameter.master.dtype});
    run.tap("cast", parameter.name, parameter.copy);
  }
}

}  // namespace tally::stage
