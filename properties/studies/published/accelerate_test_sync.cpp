// torch.allclose(a, b, rtol=1e-3) with its own atol, as accelerate's test of gradient accumulation with optimizer and
// scheduler compares gradients (src/accelerate/test_utils/scripts/test_sync.py, check_model_parameters).
#include "properties/studies/published/elementwise.hpp"
#include "properties/studies/published/rule.hpp"

namespace tally::accelerate_test_sync_study {
namespace {

bool accepts(const ComparedRuns& comparison) {
  return every_tensor(comparison, [](const ComparedTensor& tensor) {
    return elementwise_close(tensor.got, tensor.reference, {.rtol = 1e-3, .atol = 1e-8}, false);
  });
}

const RegisterRule registered{{
    .name = "accelerate rtol 1e-3",
    .source = "accelerate, src/accelerate/test_utils/scripts/test_sync.py, check_model_parameters(..., rtol=1e-3)",
    .statement = "Every element within 1e-8 + 1e-3 |expected|; NaN equals nothing.",
    .accepts = accepts,
}};

}  // namespace
}  // namespace tally::accelerate_test_sync_study
