// dx of batch norm by its group's sums s1 = sum dy and s2 = sum dy h: w rstd (dy - s1 / n - h s2 / n), (batch_norm.5),
// or frozen w rstd dy, (batch_norm.7), rounded as kernels/arithmetic.md says; store S.
//
//   x, dy, dx          [rows, features] S
//   mean, rstd, s1, s2 [features]       fp32
//   w                  [features]       S, or none (1)
//
// One thread an element, grid-stride. No sums.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"

namespace tally::backward_kernel {
namespace {

template <class S>
__device__ float scale_of(const S* weight, float rstd, std::int64_t column) {
  return weight != nullptr ? __fmul_rn(to_float(weight[column]), rstd) : rstd;
}

template <class S>
__global__ void through_statistics(const S* x, const S* dy, const S* weight, const float* mean, const float* rstd,
                                   const float* s1, const float* s2, S* dx, std::int64_t elements,
                                   std::int64_t features, float inverse_rows) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const std::int64_t column = i % features;
    const float h = __fmul_rn(__fsub_rn(to_float(x[i]), mean[column]), rstd[column]);
    const float centred = __fsub_rn(to_float(dy[i]), __fmul_rn(s1[column], inverse_rows));
    const float slope = __fmul_rn(h, __fmul_rn(s2[column], inverse_rows));
    dx[i] = from_float<S>(__fmul_rn(scale_of(weight, rstd[column], column), __fsub_rn(centred, slope)));
  }
}

template <class S>
__global__ void past_statistics(const S* dy, const S* weight, const float* rstd, S* dx, std::int64_t elements,
                                std::int64_t features) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const std::int64_t column = i % features;
    dx[i] = from_float<S>(__fmul_rn(scale_of(weight, rstd[column], column), to_float(dy[i])));
  }
}

void backward(Stream& stream, const NormBackwardArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    const std::int64_t elements = a.rows * a.features;
    launch_elements<through_statistics<S>>(stream, elements, static_cast<const S*>(a.x), static_cast<const S*>(a.dy),
                                           static_cast<const S*>(a.weight), a.mean, a.rstd, a.db_sum, a.dw_sum,
                                           static_cast<S*>(a.dx), elements, a.features, a.inverse_count);
  });
}

void backward_frozen(Stream& stream, const NormBackwardArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    const std::int64_t elements = a.rows * a.features;
    launch_elements<past_statistics<S>>(stream, elements, static_cast<const S*>(a.dy), static_cast<const S*>(a.weight),
                                        a.rstd, static_cast<S*>(a.dx), elements, a.features);
  });
}

const RegisterKernel registered("batch_norm.backward", {.variant = "grid_stride"}, backward);
const RegisterKernel registered_frozen("batch_norm.backward_frozen", {.variant = "grid_stride", .as_written = true},
                                       backward_frozen);

}  // namespace
}  // namespace tally::backward_kernel
