// BLAS++'s tester of products: ||C - C_ref||_F / (sqrt(k + 2) |alpha| ||A||_F ||B||_F) < u (test/check_gemm.hh). Here A
// and B are what the full batch's backward pass multiplied for a linear layer's gradient; a bias gradient is a product
// with a vector of ones. Other tensors are not looked at. Equal tensors pass, also where a factor is zero throughout:
// there the tester would divide 0 by 0, but it is never given such factors.
#include <cmath>

#include "oracle/tolerance/format.hpp"
#include "properties/studies/published/rule.hpp"

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

const RegisterRule registered{{
    .name = "BLAS++ ratio",
    .source = "blaspp, test/check_gemm.hh",
    .statement = "For gradients that are matrix products, ||C - C_ref|| / (sqrt(k + 2) ||A|| ||B||) is below the "
                 "storage format's unit roundoff (Frobenius norms).",
    .accepts = accepts,
}};

}  // namespace
}  // namespace tally::blaspp_study
