// jax.test_util.check_grads: default_gradient_tolerance of the dtype, multiplied by the number of elements, as both
// atol and rtol of numpy.testing.assert_allclose, for which NaN equals NaN (jax/_src/public_test_util.py).
#include "oracle/case/formats.hpp"
#include "properties/studies/published/elementwise.hpp"
#include "properties/studies/published/rule.hpp"

namespace tally::jax_check_close_study {
namespace {

double of_one_element(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp32:
      return 2e-3;
    case Dtype::fp16:
      return 1e-2;
    case Dtype::bf16:
      return 1e-1;
    default:
      throw unsupported_format(dtype, "tolerance of JAX");
  }
}

bool accepts(const ComparedRuns& comparison) {
  return every_tensor(comparison, [&](const ComparedTensor& tensor) {
    const double scaled = of_one_element(comparison.storage) * static_cast<double>(tensor.reference.size());
    return elementwise_close(tensor.got, tensor.reference, {.rtol = scaled, .atol = scaled}, true);
  });
}

const RegisterRule registered{{
    .name = "JAX check_close",
    .source = "jax, jax/_src/public_test_util.py, default_gradient_tolerance and _assert_numpy_close",
    .statement = "Every element within t n (1 + |expected|), n the tensor's elements, t 2e-3 in fp32, 1e-2 in fp16, "
                 "1e-1 in bf16; NaN equals NaN.",
    .accepts = accepts,
}};

}  // namespace
}  // namespace tally::jax_check_close_study
