// torch.allclose with its own atol and ten times the rtol of accelerate's test of gradient accumulation.
#include "properties/studies/published/elementwise.hpp"
#include "properties/studies/published/rule.hpp"

namespace tally::accelerate_study {
namespace {

bool accepts(const ComparedRuns& comparison) {
  return every_tensor(comparison, [](const ComparedTensor& tensor) {
    return elementwise_close(tensor.got, tensor.reference, {.rtol = 1e-2, .atol = 1e-8}, false);
  });
}

const RegisterRule registered{{
    .name = "accelerate rtol 1e-2",
    .source = "accelerate's test_sync.py compares so with rtol=1e-3; here ten times looser",
    .statement = "Every element within 1e-8 + 1e-2 |expected|; NaN equals nothing.",
    .accepts = accepts,
}};

}  // namespace
}  // namespace tally::accelerate_study
