// TTrace's bound on the relative Frobenius norm, k C^(L+1-l) eps, with the constants fixed in Megatron-LM's gradient
// comparison: k = 4, C = 1.03, L = 32, l = 0 and the eps of bf16 whatever the dtype: 8.3 %.
#include <cmath>

#include "properties/studies/published/rule.hpp"

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

const RegisterRule registered{{
    .name = "TTrace 8.3 %",
    .source = "TTrace, arXiv 2506.09280, theorem 5.3, with the constants of Megatron-LM's assert_grads_close",
    .statement = "The Frobenius norm of each tensor's difference is at most 4 * 1.03^33 * 2^-7 = 8.3 % of the "
                 "reference's.",
    .accepts = accepts,
}};

}  // namespace
}  // namespace tally::ttrace_study
