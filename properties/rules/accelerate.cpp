// torch.allclose with its own atol and a loosened rtol, as tests of gradient accumulation pass it.
#include "properties/rules/elementwise.hpp"
#include "properties/rules/rule.hpp"

namespace tally {
namespace {

bool accepts(const Comparison& comparison) {
  return every_tensor(comparison, [](const ComparedTensor& tensor) {
    return elementwise_close(tensor.got, tensor.reference, {.rtol = 1e-2, .atol = 1e-8}, false);
  });
}

const RegisterRule registered{{
    .name = "accelerate rtol 1e-2",
    .source = "the rule of accelerate's test_sync.py with the rtol of 1e-2 that it is loosened to",
    .statement = "Every element within 1e-8 + 1e-2 |expected|; NaN equals nothing.",
    .accepts = accepts,
}};

}  // namespace
}  // namespace tally
