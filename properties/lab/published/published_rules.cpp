// The rules that other projects publish, each with its source.
#include <cmath>
#include <limits>

#include "oracle/case/tensors/tensor.hpp"
#include "oracle/tolerance/format.hpp"
#include "properties/lab/published/rule.hpp"

// torch.allclose with its own atol and ten times the rtol of accelerate's test of gradient accumulation.
namespace tally::accelerate_study {
namespace {

bool accepts(const ComparedRuns& comparison) {
  return every_tensor(comparison, [](const ComparedTensor& tensor) {
    return elementwise_close(tensor.got, tensor.reference, {.rtol = 1e-2, .atol = 1e-8}, false);
  });
}

const Register<PublishedRule> registered{{
    .name = "accelerate rtol 1e-2",
    .source = "accelerate's test_sync.py compares so with rtol=1e-3; here ten times looser",
    .statement = "Every element within 1e-8 + 1e-2 |expected|; NaN equals nothing.",
    .accepts = accepts,
}};

}  // namespace
}  // namespace tally::accelerate_study

// torch.allclose(a, b, rtol=1e-3) with its own atol, as accelerate's test of gradient accumulation with optimizer and
// scheduler compares gradients (src/accelerate/test_utils/scripts/test_sync.py, check_model_parameters).
namespace tally::accelerate_test_sync_study {
namespace {

bool accepts(const ComparedRuns& comparison) {
  return every_tensor(comparison, [](const ComparedTensor& tensor) {
    return elementwise_close(tensor.got, tensor.reference, {.rtol = 1e-3, .atol = 1e-8}, false);
  });
}

const Register<PublishedRule> registered{{
    .name = "accelerate rtol 1e-3",
    .source = "accelerate, src/accelerate/test_utils/scripts/test_sync.py, check_model_parameters(..., rtol=1e-3)",
    .statement = "Every element within 1e-8 + 1e-3 |expected|; NaN equals nothing.",
    .accepts = accepts,
}};

}  // namespace
}  // namespace tally::accelerate_test_sync_study

// torch.testing.assert_close without tolerances: rtol and atol by dtype (torch/testing/_comparison.py,
// _DTYPE_PRECISIONS), equal_nan false.
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

const Register<PublishedRule> registered{{
    .name = "PyTorch assert_close",
    .source = "pytorch, torch/testing/_comparison.py, _DTYPE_PRECISIONS",
    .statement = "Every element within atol + rtol |expected|: fp32 1.3e-6 and 1e-5, fp16 1e-3 and 1e-5, bf16 1.6e-2 "
                 "and 1e-5; NaN equals nothing.",
    .accepts = accepts,
}};

}  // namespace
}  // namespace tally::torch_assert_close_study

// jax.test_util.check_grads: default_gradient_tolerance of the dtype, multiplied by the number of elements, as both
// atol and rtol of numpy.testing.assert_allclose, for which NaN equals NaN (jax/_src/public_test_util.py).
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

const Register<PublishedRule> registered{{
    .name = "JAX check_close",
    .source = "jax, jax/_src/public_test_util.py, default_gradient_tolerance and _assert_numpy_close",
    .statement = "Every element within t n (1 + |expected|), n the tensor's elements, t 2e-3 in fp32, 1e-2 in fp16, "
                 "1e-1 in bf16; NaN equals NaN.",
    .accepts = accepts,
}};

}  // namespace
}  // namespace tally::jax_check_close_study

// BLAS++'s tester of products: ||C - C_ref||_F / (sqrt(k + 2) |alpha| ||A||_F ||B||_F) < u (test/check_gemm.hh). Here A
// and B are what the full batch's backward pass multiplied for a linear layer's gradient; a bias gradient is a product
// with a vector of ones. Other tensors are not looked at. Equal tensors pass, also where a factor is zero throughout:
// there the tester would divide 0 by 0, but it is never given such factors.
namespace tally::blaspp_study {
namespace {

bool within(const ComparedTensor& tensor, double u) {
  if (tensor.got.size() != tensor.reference.size()) return false;
  double apart = 0;
  for (std::size_t i = 0; i < tensor.got.size(); ++i) {
    apart += (tensor.got[i] - tensor.reference[i]) * (tensor.got[i] - tensor.reference[i]);
  }
  const Product& product = *tensor.product;
  const double scale = std::sqrt(static_cast<double>(product.k) + 2) * product.norm_a * product.norm_b;
  return apart == 0 || std::sqrt(apart) / scale < u;
}

bool accepts(const ComparedRuns& comparison) {
  return std::all_of(comparison.tensors.begin(), comparison.tensors.end(), [&](const ComparedTensor& tensor) {
    return !tensor.product || within(tensor, oracle::format_of(comparison.storage).unit_roundoff());
  });
}

const Register<PublishedRule> registered{{
    .name = "BLAS++ ratio",
    .source = "blaspp, test/check_gemm.hh",
    .statement = "For gradients that are matrix products, ||C - C_ref|| / (sqrt(k + 2) ||A|| ||B||) is below the "
                 "storage format's unit roundoff (Frobenius norms).",
    .accepts = accepts,
}};

}  // namespace
}  // namespace tally::blaspp_study

// FlashAttention's tests: the kernel's largest error against an fp32 reference is at most twice that of a plain
// implementation in the kernel's own precision, plus 1e-5 (tests/test_flash_attn.py). Made for 16-bit storage: in fp32
// the plain implementation is the reference.
namespace tally::flash_attention_study {
namespace {

/// The largest |a - b|; NaN where one of them is, as torch's max() gives it.
double largest_error(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::quiet_NaN();
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double error = std::fabs(a[i] - b[i]);
    if (std::isnan(error)) return error;
    largest = std::max(largest, error);
  }
  return largest;
}

bool accepts(const ComparedRuns& comparison) {
  return every_tensor(comparison, [](const ComparedTensor& tensor) {
    return largest_error(tensor.got, tensor.precise) <= 2 * largest_error(tensor.reference, tensor.precise) + 1e-5;
  });
}

bool applies(Dtype storage) { return storage != Dtype::fp32; }

const Register<PublishedRule> registered{{
    .name = "FlashAttention 2x",
    .source = "flash-attention, tests/test_flash_attn.py",
    .statement = "Each tensor's largest error against an fp32 run is at most twice that of the reference run in the "
                 "same precision, plus 1e-5; 16-bit storage only.",
    .accepts = accepts,
    .applies = applies,
}};

}  // namespace
}  // namespace tally::flash_attention_study

// TTrace's bound on the relative Frobenius norm, k C^(L+1-l) eps, with the constants fixed in Megatron-LM's gradient
// comparison: k = 4, C = 1.03, L = 32, l = 0 and the eps of bf16 whatever the dtype: 8.3 %.
namespace tally::ttrace_study {
namespace {

bool accepts(const ComparedRuns& comparison) {
  const double bound = 4.0 * std::pow(1.03, 33) * 0x1p-7;
  return every_tensor(comparison, [bound](const ComparedTensor& tensor) {
    double apart = 0, size = 0;
    for (std::size_t i = 0; i < tensor.got.size(); ++i) {
      apart += (tensor.got[i] - tensor.reference[i]) * (tensor.got[i] - tensor.reference[i]);
      size += tensor.reference[i] * tensor.reference[i];
    }
    return std::sqrt(apart) / (std::sqrt(size) + 1e-30) <= bound;
  });
}

const Register<PublishedRule> registered{{
    .name = "TTrace 8.3 %",
    .source = "TTrace, arXiv 2506.09280, theorem 5.3, with the constants of Megatron-LM's assert_grads_close",
    .statement = "The Frobenius norm of each tensor's difference is at most 4 * 1.03^33 * 2^-7 = 8.3 % of the "
                 "reference's.",
    .accepts = accepts,
}};

}  // namespace
}  // namespace tally::ttrace_study
