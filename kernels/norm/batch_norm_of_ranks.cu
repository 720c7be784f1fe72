// The statistics of a micro-step that several ranks put together: each rank's sums, pooled, or its moments, merged.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/norm/batch_norm_of_ranks.hpp"
#include "kernels/reduction/column_sum.hpp"

// Column sums of one rank's rows of a micro-step: sum of x, and of x x or, around the mean of all ranks' rows, of d d,
// d = x - mean, rounded as kernels/arithmetic.md says; fp32.
//
//   x            [rows, features] S
//   mean         [features]       fp32, or none
//   sum, squares [features]       fp32, or none
//
// A block covers 32 columns; both sums run side by side as kernels/reduction/column_sum.hpp says: one thread a column
// up to 63 rows, 8 from 64 on.
namespace tally::step_sums_kernel {
namespace {

template <class S, int lanes>
__global__ void sum_step(const S* x, const float* mean, float* sum, float* squares, std::int64_t rows,
                         std::int64_t features) {
  TALLY_SHARED(float, partial, lanes, column_tile);
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * column_tile + threadIdx.x;
  const std::int64_t my_rows = column < features ? rows : 0;
  const float centre = mean != nullptr && column < features ? mean[column] : 0.0f;
  float all = 0.0f, all_squares = 0.0f;
  for (std::int64_t row = threadIdx.y; row < my_rows; row += lanes) {
    const float value = to_float(x[row * features + column]);
    const float d = mean != nullptr ? __fsub_rn(value, centre) : value;
    all = __fadd_rn(all, value);
    all_squares = __fadd_rn(all_squares, __fmul_rn(d, d));
  }
  all = column_total<lanes>(all, partial);
  all_squares = column_total<lanes>(all_squares, partial);
  if (column < features && threadIdx.y == 0) {
    if (sum != nullptr) sum[column] = all;
    if (squares != nullptr) squares[column] = all_squares;
  }
}

void step_sums(Stream& stream, const StepSumsArguments& a) {
  by_storage(a.storage, [&]<class S>(S) {
    by_column_lanes(a.rows, [&]<int lanes>() {
      launch_columns<lanes, sum_step<S, lanes>>(stream, a.features, static_cast<const S*>(a.x), a.mean, a.sum,
                                                a.squares, a.rows, a.features);
    });
  });
}

const RegisterKernel registered("batch_norm.step_sums", {.variant = "column_lanes", .additions = column_additions()},
                                step_sums, KernelUse::when_named);

}  // namespace
}  // namespace tally::step_sums_kernel

// Mean, (batch_norm.1), var, (batch_norm.2), and rstd, (batch_norm.3), of a micro-step by sums over all ranks, rounded
// as kernels/arithmetic.md says; fp32.
//
//   sum, squares, mean, var, rstd [features] fp32, or none
//
// One thread a feature, grid-stride. No sums.
namespace tally::pool_sums_kernel {
namespace {

__global__ void by_sums(const float* sum, const float* squares, float* mean, float* var, float* rstd,
                        std::int64_t features, float inverse_rows, float eps, bool of_deviations) {
  for (std::int64_t i = first_element(); i < features; i += element_stride()) {
    if (sum != nullptr) mean[i] = __fmul_rn(sum[i], inverse_rows);
    if (squares == nullptr) continue;
    const float square = __fmul_rn(squares[i], inverse_rows);
    float variance = square;
    if (!of_deviations) {
      const float difference = __fsub_rn(square, __fmul_rn(mean[i], mean[i]));
      variance = difference < 0.0f ? 0.0f : difference;
    }
    var[i] = variance;
    rstd[i] = __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(variance, eps)));
  }
}

void pool_sums(Stream& stream, const PoolSumsArguments& a) {
  launch_elements<by_sums>(stream, a.features, a.sum, a.squares, a.mean, a.var, a.rstd, a.features, a.inverse_rows,
                           a.eps, a.of_deviations);
}

const RegisterKernel registered("batch_norm.pool_sums", {.variant = "grid_stride", .as_written = true}, pool_sums,
                                KernelUse::when_named);

}  // namespace
}  // namespace tally::pool_sums_kernel

// Mean, (batch_norm.1), var, (batch_norm.2), and rstd, (batch_norm.3), of a micro-step by those of every rank, merged in
// the order of the ranks as PyTorch's batch_norm_gather_stats_with_counts does, rounded as kernels/arithmetic.md says;
// fp32. A rank without rows is passed over.
//
//   means, vars     [ranks, features] fp32
//   counts          [ranks]           i64
//   mean, var, rstd [features]        fp32
//
// One thread a feature, grid-stride, rank after rank.
namespace tally::merge_moments_kernel {
namespace {

__global__ void by_moments(const float* means, const float* vars, const std::int64_t* counts, float* mean, float* var,
                           float* rstd, std::int64_t ranks, std::int64_t features, float eps) {
  for (std::int64_t i = first_element(); i < features; i += element_stride()) {
    float average = 0.0f, squares = 0.0f;
    std::int64_t taken = 0;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      if (counts[rank] == 0) continue;
      const float n = static_cast<float>(taken), c = static_cast<float>(counts[rank]);
      taken += counts[rank];
      const float f = __fdiv_rn(1.0f, static_cast<float>(taken));
      const float own = means[rank * features + i];
      const float d = __fsub_rn(average, own);
      const float between = __fmul_rn(__fmul_rn(__fmul_rn(__fmul_rn(d, d), n), c), f);
      squares = __fadd_rn(squares, __fadd_rn(__fmul_rn(vars[rank * features + i], c), between));
      average = __fadd_rn(__fmul_rn(__fmul_rn(n, f), average), __fmul_rn(__fmul_rn(c, f), own));
    }
    const float variance = __fdiv_rn(squares, static_cast<float>(taken));
    mean[i] = average;
    var[i] = variance;
    rstd[i] = __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(variance, eps)));
  }
}

void merge_moments(Stream& stream, const MergeMomentsArguments& a) {
  launch_elements<by_moments>(stream, a.features, a.means, a.vars, a.counts, a.mean, a.var, a.rstd, a.ranks, a.features,
                              a.eps);
}

const RegisterKernel registered("batch_norm.merge_moments", {.variant = "in_order", .as_written = true}, merge_moments,
                                KernelUse::when_named);

}  // namespace
}  // namespace tally::merge_moments_kernel
