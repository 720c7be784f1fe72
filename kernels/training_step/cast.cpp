#include "kernels/training_step/stages.hpp"

namespace tally::stage {

void cast(Run& run) {
  for (auto* all : {&run.parameters, &run.frozen})
    for (Parameter& parameter : *all) {
      run.tap("cast", "in." + parameter.name, parameter.master);
      run.launch<CastArguments>("cast", {parameter.copy.dtype, parameter.master.data(), parameter.copy.data(),
                                         parameter.elements, parameter.master.dtype});
      run.tap("cast", parameter.name, parameter.copy);
    }
}

}  // namespace tally::stage
