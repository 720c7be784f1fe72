// RMS norm: forward, backward, and the weight's gradient.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layer_arguments.hpp"
#include "kernels/norm/norm_rows.hpp"
#include "kernels/reduction/column_sum.hpp"
#include "kernels/reduction/row_sum.hpp"

// RMS norm over the features of a row: rstd, (rms_norm.1), then x rstd (offset + w), (rms_norm.2), rounded as
// kernels/arithmetic.md says; store S. `cast_first` stores x rstd in S, too.
//
//   x, y [rows, features] S   w [features] S, or none   rstd [rows] fp32
//
// Up to 32 features one thread a row, elements added in order; from 33 a warp a row, as kernels/reduction/row_sum.hpp.
namespace tally::rms_norm_forward_kernel {
namespace {

template <class S, Casting casting, int lanes>
__global__ void by_root_mean_square(const S* x, const S* weight, float* rstd, S* y, std::int64_t rows,
                                    std::int64_t features, float inverse_features, float eps, float offset) {
  const RowPlace place = row_place();
  for (std::int64_t row = place.row; row < rows; row += place.row_stride) {
    const S* row_x = x + row * features;
    float sum = 0.0f;
    for (std::int64_t j = place.lane; j < features; j += lanes)
      sum = __fadd_rn(sum, __fmul_rn(to_float(row_x[j]), to_float(row_x[j])));
    const float mean = __fmul_rn(row_total<lanes>(sum), inverse_features);
    const float scale = __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(mean, eps)));
    for (std::int64_t j = place.lane; j < features; j += lanes) {
      const float h = on_the_way<S, casting>(__fmul_rn(to_float(row_x[j]), scale));
      const float value = weight != nullptr ? __fmul_rn(h, __fadd_rn(offset, to_float(weight[j]))) : h;
      y[row * features + j] = from_float<S>(value);
    }
    if (place.lane == 0) rstd[row] = scale;
  }
}

template <Casting casting>
void forward(Stream& stream, const NormForwardArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_row_lanes(a.features, [&]<int lanes>() {
      launch_rows<lanes, by_root_mean_square<S, casting, lanes>>(
          stream, a.rows, static_cast<const S*>(a.x), static_cast<const S*>(a.weight), a.rstd, static_cast<S*>(a.y),
          a.rows, a.features, a.inverse_features, a.eps, a.offset);
    });
  });
}

const RegisterKernel registered(
    "rms_norm.forward",
    {.variant = "row_lanes", .algorithm = "cast_last", .additions = row_additions(), .as_written = true},
    forward<Casting::last>);
const RegisterKernel registered_cast_first(
    "rms_norm.forward", {.variant = "cast_first", .algorithm = "cast_first", .additions = row_additions()},
    forward<Casting::first>, KernelUse::when_named);

}  // namespace
}  // namespace tally::rms_norm_forward_kernel

// dx of RMS norm: rstd (g - h mean of g h) with g = dy (offset + w), (rms_norm.3), rounded as kernels/arithmetic.md
// says; store S. `cast_first` stores g in S.
//
//   x, dy, dx [rows, features] S   rstd [rows] fp32   w [features] S, or none (w' = 1)
//
// Up to 32 features one thread a row, elements added in order; from 33 a warp a row, as kernels/reduction/row_sum.hpp.
namespace tally::rms_norm_backward_kernel {
namespace {

template <class S, Casting casting>
__device__ float weighted(const S* dy, const S* weight, std::int64_t i, std::int64_t column, float offset) {
  const float gradient = to_float(dy[i]);
  if (weight == nullptr) return gradient;
  return on_the_way<S, casting>(__fmul_rn(gradient, __fadd_rn(offset, to_float(weight[column]))));
}

template <class S, Casting casting, int lanes>
__global__ void through_the_root(const S* x, const S* dy, const S* weight, const float* rstd, S* dx, std::int64_t rows,
                                 std::int64_t features, float inverse_features, float offset) {
  const RowPlace place = row_place();
  for (std::int64_t row = place.row; row < rows; row += place.row_stride) {
    const std::int64_t start = row * features;
    float sum = 0.0f;
    for (std::int64_t j = place.lane; j < features; j += lanes) {
      const float h = __fmul_rn(to_float(x[start + j]), rstd[row]);
      sum = __fadd_rn(sum, __fmul_rn(weighted<S, casting>(dy, weight, start + j, j, offset), h));
    }
    const float m = __fmul_rn(row_total<lanes>(sum), inverse_features);
    for (std::int64_t j = place.lane; j < features; j += lanes) {
      const float h = __fmul_rn(to_float(x[start + j]), rstd[row]);
      const float g = weighted<S, casting>(dy, weight, start + j, j, offset);
      dx[start + j] = from_float<S>(__fmul_rn(rstd[row], __fsub_rn(g, __fmul_rn(h, m))));
    }
  }
}

template <Casting casting>
void backward(Stream& stream, const NormBackwardArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_row_lanes(a.features, [&]<int lanes>() {
      launch_rows<lanes, through_the_root<S, casting, lanes>>(
          stream, a.rows, static_cast<const S*>(a.x), static_cast<const S*>(a.dy), static_cast<const S*>(a.weight),
          a.rstd, static_cast<S*>(a.dx), a.rows, a.features, a.inverse_count, a.offset);
    });
  });
}

const RegisterKernel registered("rms_norm.backward",
                                {.variant = "row_lanes", .algorithm = "cast_last", .additions = row_additions()},
                                backward<Casting::last>);
const RegisterKernel registered_cast_first(
    "rms_norm.backward", {.variant = "cast_first", .algorithm = "cast_first", .additions = row_additions()},
    backward<Casting::first>, KernelUse::when_named);

}  // namespace
}  // namespace tally::rms_norm_backward_kernel

// dw = sum dy h over rows, (rms_norm.4), rounded as kernels/arithmetic.md says; store S. `cast_first` stores h and
// dy h in S.
//
//   x, dy [rows, features] S   rstd [rows] fp32   dw [features] S
//
// A block covers 32 columns; the sum runs as kernels/reduction/column_sum.hpp says: one thread a column up to 63 rows,
// 8 from 64 on.
namespace tally::weight_gradient_kernel {
namespace {

template <class S, Casting casting, int lanes>
__global__ void sum_columns(const S* x, const S* dy, const float* rstd, S* dw, std::int64_t rows,
                            std::int64_t features) {
  TALLY_SHARED(float, partial, lanes, column_tile);
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * column_tile + threadIdx.x;
  float sum = 0.0f;
  if (column < features) {
    for (std::int64_t row = threadIdx.y; row < rows; row += lanes) {
      const std::int64_t i = row * features + column;
      const float h = on_the_way<S, casting>(__fmul_rn(to_float(x[i]), rstd[row]));
      sum = __fadd_rn(sum, on_the_way<S, casting>(__fmul_rn(to_float(dy[i]), h)));
    }
  }
  sum = column_total<lanes>(sum, partial);
  if (column < features && threadIdx.y == 0) dw[column] = from_float<S>(sum);
}

template <Casting casting>
void gradient(Stream& stream, const NormGradientArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_column_lanes(a.rows, [&]<int lanes>() {
      launch_columns<lanes, sum_columns<S, casting, lanes>>(stream, a.features, static_cast<const S*>(a.x),
                                                            static_cast<const S*>(a.dy), a.rstd, static_cast<S*>(a.dw),
                                                            a.rows, a.features);
    });
  });
}

const RegisterKernel registered("rms_norm.weight_gradient",
                                {.variant = "column_lanes", .algorithm = "cast_last", .additions = column_additions()},
                                gradient<Casting::last>);
const RegisterKernel registered_cast_first(
    "rms_norm.weight_gradient", {.variant = "cast_first", .algorithm = "cast_first", .additions = column_additions()},
    gradient<Casting::first>, KernelUse::when_named);

}  // namespace
}  // namespace tally::weight_gradient_kernel
