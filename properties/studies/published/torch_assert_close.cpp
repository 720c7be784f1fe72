// torch.testing.assert_close without tolerances: rtol and atol by dtype (torch/testing/_comparison.py,
// _DTYPE_PRECISIONS), equal_nan false.
#include "oracle/case/formats.hpp"
#include "properties/studies/published/elementwise.hpp"
#include "properties/studies/published/rule.hpp"

namespace tally::torch_assert_close_study {
namespace {

RelativeAndAbsolute defaults(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp32:
      return {.rtol = 1.3e-6, .atol = 1e-5};
    case Dtype::fp16:
      return {.rtol = 1e-3, .atol = 1e-5};
    case Dtype::bf16:
      return {.rtol = 1.6e-2, .atol = 1e-5};
    default:
      throw unsupported_format(dtype, "tolerance of PyTorch");
  }
}

bool accepts(const ComparedRuns& comparison) {
  return every_tensor(comparison, [&](const ComparedTensor& tensor) {
    return elementwise_close(tensor.got, tensor.reference, defaults(comparison.storage), false);
  });
}

const RegisterRule registered{{
    .name = "PyTorch assert_close",
    .source = "pytorch, torch/testing/_comparison.py, _DTYPE_PRECISIONS",
    .statement = "Every element within atol + rtol |expected|: fp32 1.3e-6 and 1e-5, fp16 1e-3 and 1e-5, bf16 1.6e-2 "
                 "and 1e-5; NaN equals nothing.",
    .accepts = accepts,
}};

}  // namespace
}  // namespace tally::torch_assert_close_study
