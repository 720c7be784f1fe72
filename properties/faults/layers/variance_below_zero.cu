// A variance worked out in one pass is taken as it comes, below 0 too.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/layer_norm/normalise_rows.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::variance_below_zero_fault {
namespace {

struct AsItComes {
  template <class S, int lanes>
  static __device__ RowMoments of(const S* x, std::int64_t features, int lane, float inverse_features) {
    float sum = 0.0f, squares = 0.0f;
    for (std::int64_t j = lane; j < features; j += lanes) {
      const float value = to_float(x[j]);
      sum = __fadd_rn(sum, value);
      squares = __fadd_rn(squares, __fmul_rn(value, value));
    }
    const float mean = __fmul_rn(row_total<lanes>(sum), inverse_features);
    return {mean, __fsub_rn(__fmul_rn(row_total<lanes>(squares), inverse_features), __fmul_rn(mean, mean))};
  }
};

const RegisterKernel kernel(
    "layer_norm.forward",
    {.variant = "~variance-below-zero", .algorithm = "one_pass", .additions = row_additions(), .as_written = true},
    launch_normalisation<AsItComes>);

const Stages& stages() {
  static const Stages faulty = with_kernel("layer_norm.forward", "variance-below-zero");
  return faulty;
}

const RegisterFault registered{{
    .name = "variance-below-zero",
    .stage = "forward",
    .right = "var = max(0, E[x x] - mean mean)",
    .wrong = "var = E[x x] - mean mean",
    .condition = "a row of one large number",
    .knob = "none",
    .source = "source mutation",
    .laws = {"norms_of_one_number_keep_their_bound"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::variance_below_zero_fault
