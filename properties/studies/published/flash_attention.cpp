// FlashAttention's tests: the kernel's largest error against an fp32 reference is at most twice that of a plain
// implementation in the kernel's own precision, plus 1e-5 (tests/test_flash_attn.py). Made for 16-bit storage: in fp32
// the plain implementation is the reference.
#include <cmath>
#include <limits>

#include "properties/studies/published/rule.hpp"

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

const RegisterRule registered{{
    .name = "FlashAttention 2x",
    .source = "flash-attention, tests/test_flash_attn.py",
    .statement = "Each tensor's largest error against an fp32 run is at most twice that of the reference run in the "
                 "same precision, plus 1e-5; 16-bit storage only.",
    .accepts = accepts,
    .applies = applies,
}};

}  // namespace
}  // namespace tally::flash_attention_study
