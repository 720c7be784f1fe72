// Batch norm by given statistics: forward, backward, the parameters' gradients, and the running values.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/reduction/column_sum.hpp"
#include "kernels/window/arguments.hpp"

// Batch norm by given statistics: (x - mean) rstd w + b from left to right, (batch_norm.4), each operation rounded,
// without the last two when the layer is not affine; store S.
//
//   x, y       [rows, features] S
//   mean, rstd [features]       fp32
//   w, b       [features]       S, or none
//
// One thread an element, grid-stride. No sums.
namespace tally::batch_norm_forward_kernel {
namespace {

template <class S>
__global__ void normalise(const S* x, const float* mean, const float* rstd, const S* weight, const S* bias, S* y,
                          std::int64_t elements, std::int64_t features) {
  for (std::int64_t i = first_element(); i < elements; i += element_stride()) {
    const std::int64_t column = i % features;
    float value = __fmul_rn(__fsub_rn(to_float(x[i]), mean[column]), rstd[column]);
    if (weight != nullptr) value = __fadd_rn(__fmul_rn(value, to_float(weight[column])), to_float(bias[column]));
    y[i] = from_float<S>(value);
  }
}

void forward(Stream& stream, const NormForwardArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    const std::int64_t elements = a.rows * a.features;
    launch_elements<normalise<S>>(stream, elements, static_cast<const S*>(a.x), a.mean, a.rstd,
                                  static_cast<const S*>(a.weight), static_cast<const S*>(a.bias), static_cast<S*>(a.y),
                                  elements, a.features);
  });
}

const RegisterKernel registered("batch_norm.forward", {.variant = "grid_stride", .as_written = true}, forward);

}  // namespace
}  // namespace tally::batch_norm_forward_kernel

// dx of batch norm by its group's sums s1 = sum dy and s2 = sum dy h: w rstd (dy - s1 / n - h s2 / n), (batch_norm.5),
// or frozen w rstd dy, (batch_norm.7), rounded as kernels/arithmetic.md says; store S.
//
//   x, dy, dx          [rows, features] S
//   mean, rstd, s1, s2 [features]       fp32
//   w                  [features]       S, or none (1)
//
// One thread an element, grid-stride. No sums.
namespace tally::batch_norm_backward_kernel {
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
}  // namespace tally::batch_norm_backward_kernel

// dw = sum dy h and db = sum dy over rows, (batch_norm.6): the parameter gradients of batch norm (store S), and the
// same sums in fp32 where its dx needs them. h and dy h are rounded as kernels/arithmetic.md says.
//
//   x, dy          [rows, features] S
//   mean, rstd     [features]       fp32
//   dw, db         [features]       S, or none
//   dw_sum, db_sum [features]       fp32, or none
//
// A block covers 32 columns; both sums run as kernels/reduction/column_sum.hpp says: one thread a column up to 63 rows,
// 8 from 64 on.
namespace tally::batch_norm_gradients_kernel {
namespace {

template <class S, int lanes>
__global__ void sum_columns(const S* x, const S* dy, const float* mean, const float* rstd, S* dw, S* db, float* dw_sum,
                            float* db_sum, std::int64_t rows, std::int64_t features) {
  TALLY_SHARED(float, partial, lanes, column_tile);
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * column_tile + threadIdx.x;
  float weight_sum = 0.0f, bias_sum = 0.0f;
  if (column < features) {
    for (std::int64_t row = threadIdx.y; row < rows; row += lanes) {
      const std::int64_t i = row * features + column;
      const float h = __fmul_rn(__fsub_rn(to_float(x[i]), mean[column]), rstd[column]);
      weight_sum = __fadd_rn(weight_sum, __fmul_rn(to_float(dy[i]), h));
      bias_sum = __fadd_rn(bias_sum, to_float(dy[i]));
    }
  }
  weight_sum = column_total<lanes>(weight_sum, partial);
  bias_sum = column_total<lanes>(bias_sum, partial);
  if (column < features && threadIdx.y == 0) {
    if (dw != nullptr) dw[column] = from_float<S>(weight_sum);
    if (db != nullptr) db[column] = from_float<S>(bias_sum);
    if (dw_sum != nullptr) dw_sum[column] = weight_sum;
    if (db_sum != nullptr) db_sum[column] = bias_sum;
  }
}

void gradient(Stream& stream, const NormGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_column_lanes(a.rows, [&]<int lanes>() {
      launch_columns<lanes, sum_columns<S, lanes>>(stream, a.features, static_cast<const S*>(a.x),
                                                   static_cast<const S*>(a.dy), a.mean, a.rstd, static_cast<S*>(a.dw),
                                                   static_cast<S*>(a.db), a.dw_sum, a.db_sum, a.rows, a.features);
    });
  });
}

const RegisterKernel registered("batch_norm.parameter_gradients",
                                {.variant = "column_lanes", .additions = column_additions()}, gradient);

}  // namespace
}  // namespace tally::batch_norm_gradients_kernel

// Running statistics: r = (1 - m) r + m v with v = batch correction, rounded as kernels/arithmetic.md says; with the
// correction n / (n - 1) (running_statistics.2), and with 1, which changes nothing, (running_statistics.1).
//
//   running [features] M, in place   batch [features] fp32
//
// One thread a feature, grid-stride. No sums.
namespace tally::running_stats_kernel {
namespace {

template <class M>
__global__ void move(M* running, const float* batch, std::int64_t features, float momentum, float one_minus_momentum,
                     float correction) {
  for (std::int64_t i = first_element(); i < features; i += element_stride()) {
    const float value = __fmul_rn(batch[i], correction);
    const float kept = __fmul_rn(one_minus_momentum, to_float(running[i]));
    running[i] = from_float<M>(__fadd_rn(kept, __fmul_rn(momentum, value)));
  }
}

void running_stats(Stream& stream, const RunningStatsArguments& a) {
  by_storage(a.format, [&]<class M>(M) {
    launch_elements<move<M>>(stream, a.features, static_cast<M*>(a.running), a.batch, a.features, a.momentum,
                             a.one_minus_momentum, a.correction);
  });
}

const RegisterKernel registered("running_stats", {.variant = "grid_stride", .as_written = true}, running_stats);

}  // namespace
}  // namespace tally::running_stats_kernel
