// Layer norm: forward with statistics by three algorithms, backward, and the parameters' gradients.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/norm/norm_rows.hpp"
#include "kernels/reduction/column_sum.hpp"
#include "kernels/reduction/row_sum.hpp"
#include "kernels/reduction/welford.hpp"

// Layer norm over the features of a row, statistics in two passes: mean, (layer_norm.1), then var, (layer_norm.2), from
// that rounded mean, rounded as kernels/arithmetic.md says; then kernels/norm/norm_rows.hpp.
//
//   x, y       [rows, features] S
//   w, b       [features]       S, or none
//   mean, rstd [rows]           fp32
//
// Up to 32 features elements are added in order; from 33 as kernels/reduction/row_sum.hpp.
namespace tally::layer_norm_forward_kernel {
namespace {

struct TwoPass {
  template <class S, int lanes>
  static __device__ RowMoments of(const S* x, std::int64_t features, int lane, float inverse_features) {
    float sum = 0.0f;
    for (std::int64_t j = lane; j < features; j += lanes) sum = __fadd_rn(sum, to_float(x[j]));
    const float mean = __fmul_rn(row_total<lanes>(sum), inverse_features);
    sum = 0.0f;
    for (std::int64_t j = lane; j < features; j += lanes) {
      const float d = __fsub_rn(to_float(x[j]), mean);
      sum = __fadd_rn(sum, __fmul_rn(d, d));
    }
    return {mean, __fmul_rn(row_total<lanes>(sum), inverse_features)};
  }
};

const RegisterKernel registered(
    "layer_norm.forward",
    {.variant = "two_pass", .algorithm = "two_pass", .additions = row_additions(), .as_written = true},
    launch_normalisation<TwoPass>);

}  // namespace
}  // namespace tally::layer_norm_forward_kernel

// Layer norm over the features of a row, statistics in one pass: mean, (layer_norm.1), and var, (layer_norm.2), as
// max(0, E[x x] - mean mean), rounded as kernels/arithmetic.md says; then kernels/norm/norm_rows.hpp.
//
//   x, y       [rows, features] S
//   w, b       [features]       S, or none
//   mean, rstd [rows]           fp32
//
// Up to 32 features elements are added in order; from 33 as kernels/reduction/row_sum.hpp.
namespace tally::forward_one_pass_kernel {
namespace {

struct OnePass {
  template <class S, int lanes>
  static __device__ RowMoments of(const S* x, std::int64_t features, int lane, float inverse_features) {
    float sum = 0.0f, squares = 0.0f;
    for (std::int64_t j = lane; j < features; j += lanes) {
      const float value = to_float(x[j]);
      sum = __fadd_rn(sum, value);
      squares = __fadd_rn(squares, __fmul_rn(value, value));
    }
    const float mean = __fmul_rn(row_total<lanes>(sum), inverse_features);
    const float square = __fmul_rn(row_total<lanes>(squares), inverse_features);
    const float difference = __fsub_rn(square, __fmul_rn(mean, mean));
    return {mean, difference < 0.0f ? 0.0f : difference};
  }
};

const RegisterKernel registered(
    "layer_norm.forward",
    {.variant = "one_pass", .algorithm = "one_pass", .additions = row_additions(), .as_written = true},
    launch_normalisation<OnePass>, KernelUse::when_named);

}  // namespace
}  // namespace tally::forward_one_pass_kernel

// Layer norm over the features of a row, statistics by Welford's updates and Chan's merges
// (kernels/reduction/welford.hpp): mean, (layer_norm.1), and var, (layer_norm.2), as M / n; then
// kernels/norm/norm_rows.hpp.
//
//   x, y       [rows, features] S
//   w, b       [features]       S, or none
//   mean, rstd [rows]           fp32
//
// Up to 32 features one thread updates in order; from 33 lane l updates by elements l, l + 32, ..., then a tree of five
// levels.
namespace tally::forward_welford_kernel {
namespace {

struct Welford {
  template <class S, int lanes>
  static __device__ RowMoments of(const S* x, std::int64_t features, int lane, float inverse_features) {
    WelfordSample sample;
    for (std::int64_t j = lane; j < features; j += lanes) sample.add(to_float(x[j]));
    sample = row_sample<lanes>(sample);
    return {sample.mean, __fmul_rn(sample.squares, inverse_features)};
  }
};

const RegisterKernel registered(
    "layer_norm.forward",
    {.variant = "welford", .algorithm = "welford", .additions = row_additions(), .as_written = true},
    launch_normalisation<Welford>, KernelUse::when_named);

}  // namespace
}  // namespace tally::forward_welford_kernel

// dx of layer norm: rstd (g - mean of g - h mean of g h) with g = dy w, (layer_norm.5), rounded as
// kernels/arithmetic.md says; store S.
//
//   x, dy, dx  [rows, features] S
//   mean, rstd [rows]           fp32
//   w          [features]       S, or none (1)
//
// Up to 32 features one thread a row, elements added in order; from 33 a warp a row, as kernels/reduction/row_sum.hpp.
namespace tally::layer_norm_backward_kernel {
namespace {

template <class S>
__device__ float weighted(const S* dy, const S* weight, std::int64_t i, std::int64_t column) {
  return weight != nullptr ? __fmul_rn(to_float(dy[i]), to_float(weight[column])) : to_float(dy[i]);
}

template <class S, int lanes>
__global__ void through_statistics(const S* x, const S* dy, const S* weight, const float* mean, const float* rstd,
                                   S* dx, std::int64_t rows, std::int64_t features, float inverse_features) {
  const RowPlace place = row_place();
  for (std::int64_t row = place.row; row < rows; row += place.row_stride) {
    const std::int64_t start = row * features;
    float sum = 0.0f, product_sum = 0.0f;
    for (std::int64_t j = place.lane; j < features; j += lanes) {
      const float g = weighted(dy, weight, start + j, j);
      const float h = __fmul_rn(__fsub_rn(to_float(x[start + j]), mean[row]), rstd[row]);
      sum = __fadd_rn(sum, g);
      product_sum = __fadd_rn(product_sum, __fmul_rn(g, h));
    }
    const float m1 = __fmul_rn(row_total<lanes>(sum), inverse_features);
    const float m2 = __fmul_rn(row_total<lanes>(product_sum), inverse_features);
    for (std::int64_t j = place.lane; j < features; j += lanes) {
      const float g = weighted(dy, weight, start + j, j);
      const float h = __fmul_rn(__fsub_rn(to_float(x[start + j]), mean[row]), rstd[row]);
      dx[start + j] = from_float<S>(__fmul_rn(rstd[row], __fsub_rn(__fsub_rn(g, m1), __fmul_rn(h, m2))));
    }
  }
}

void backward(Stream& stream, const NormBackwardArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_row_lanes(a.features, [&]<int lanes>() {
      launch_rows<lanes, through_statistics<S, lanes>>(
          stream, a.rows, static_cast<const S*>(a.x), static_cast<const S*>(a.dy), static_cast<const S*>(a.weight),
          a.mean, a.rstd, static_cast<S*>(a.dx), a.rows, a.features, a.inverse_count);
    });
  });
}

const RegisterKernel registered("layer_norm.backward", {.variant = "row_lanes", .additions = row_additions()},
                                backward);

}  // namespace
}  // namespace tally::layer_norm_backward_kernel

// dw = sum dy h and db = sum dy over rows, (layer_norm.6): the parameter gradients of layer norm. h and dy h are
// rounded as kernels/arithmetic.md says; store S.
//
//   x, dy      [rows, features] S
//   mean, rstd [rows]           fp32
//   dw, db     [features]       S
//
// A block covers 32 columns; both sums run as kernels/reduction/column_sum.hpp says: one thread a column up to 63 rows,
// 8 from 64 on.
namespace tally::layer_norm_gradients_kernel {
namespace {

template <class S, int lanes>
__global__ void sum_columns(const S* x, const S* dy, const float* mean, const float* rstd, S* dw, S* db,
                            std::int64_t rows, std::int64_t features) {
  TALLY_SHARED(float, partial, lanes, column_tile);
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * column_tile + threadIdx.x;
  float weight_sum = 0.0f, bias_sum = 0.0f;
  if (column < features) {
    for (std::int64_t row = threadIdx.y; row < rows; row += lanes) {
      const std::int64_t i = row * features + column;
      const float h = __fmul_rn(__fsub_rn(to_float(x[i]), mean[row]), rstd[row]);
      weight_sum = __fadd_rn(weight_sum, __fmul_rn(to_float(dy[i]), h));
      bias_sum = __fadd_rn(bias_sum, to_float(dy[i]));
    }
  }
  weight_sum = column_total<lanes>(weight_sum, partial);
  bias_sum = column_total<lanes>(bias_sum, partial);
  if (column < features && threadIdx.y == 0) {
    dw[column] = from_float<S>(weight_sum);
    db[column] = from_float<S>(bias_sum);
  }
}

void gradient(Stream& stream, const NormGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_column_lanes(a.rows, [&]<int lanes>() {
      launch_columns<lanes, sum_columns<S, lanes>>(stream, a.features, static_cast<const S*>(a.x),
                                                   static_cast<const S*>(a.dy), a.mean, a.rstd, static_cast<S*>(a.dw),
                                                   static_cast<S*>(a.db), a.rows, a.features);
    });
  });
}

const RegisterKernel registered("layer_norm.parameter_gradients",
                                {.variant = "column_lanes", .additions = column_additions()}, gradient);

}  // namespace
}  // namespace tally::layer_norm_gradients_kernel
