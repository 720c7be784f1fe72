// The gradient of a parameter that several layers read, (add.3): what they gave, the last one's first, as they come in
// backward. Every sum is stored.
#include "kernels/training_step/stages.hpp"

namespace tally::stage {

void share(Run& run) {
  const int k = run.micro_batch;
  const Dtype storage = run.c.precision.storage;
  for (const SharedParameter& shared : shared_parameters(run.c.model)) {
    if (shared.users.front() < run.part_begin || shared.users.front() >= run.part_end) continue;
    const Parameter& parameter = run.parameter(shared.name);
    void* sum = run.gradient_of(&parameter, k);
    const void* before = nullptr;
    for (auto user = shared.users.rbegin(); user != shared.users.rend(); ++user) {
      void* given = run.gradient_by(run.layers[*user], &parameter, k);
      run.tap("fork", "in." + gradient_name(run.c.model, *user, "weight"), given, storage, parameter.copy.shape);
      if (before != nullptr) {
        run.launch<AddArguments>("gradient.add", {storage, before, given, sum, parameter.elements});
        before = sum;
      } else {
        before = given;
      }
    }
    run.tap("fork", "d." + shared.name, sum, storage, parameter.copy.shape);
  }
}

}  // namespace tally::stage
