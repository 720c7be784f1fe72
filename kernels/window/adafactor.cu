// Adafactor: the means of squares along rows, (adafactor.2), and columns, (adafactor.3), or each square of a vector,
// (adafactor.4), then the parameter by (adafactor.5), (adafactor.6) and (adafactor.7), rounded as kernels/arithmetic.md
// says; w and rho of (adafactor.1) come rounded to fp32.
//
//   gradient [matrices, rows, columns] fp32   parameter likewise, row [matrices, rows], column [matrices, columns] M,
//   in place; the step reads both as stored   sums [2 + matrices] fp32
//
// A block a sum: thread t adds terms t, t + threads, ... in order, the threads' sums meet in a tree of shuffles
// (kernels/reduction/block_sum.hpp). A smaller block has a thread for every term. Then one thread an element.
#include <algorithm>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/reduction/block_sum.hpp"
#include "kernels/window/arguments.hpp"

namespace tally::adafactor_kernel {
namespace {

constexpr std::int64_t threads_a_sum = 256;

/// The sum of `term(0)`, `term(1)`, ... in the block's thread 0.
template <class Term>
__device__ float sum_of_block(std::int64_t terms, Term term) {
  TALLY_SHARED(float, partial, most_warps);
  float sum = 0.0f;
  for (std::int64_t i = threadIdx.x; i < terms; i += blockDim.x) sum = __fadd_rn(sum, term(i));
  return block_result(
      sum, 0.0f, [](float a, float b) { return __fadd_rn(a, b); }, partial);
}

__device__ float square(float x) { return __fmul_rn(x, x); }

/// NaN stays.
__device__ float at_least(float least, float x) { return x < least ? least : x; }

/// What is kept, moved towards a mean by the share w, stored.
template <class M>
__device__ void move(M* kept, float mean, float w) {
  const float old = to_float(*kept), distance = __fsub_rn(mean, old);
  *kept = from_float<M>(w < 0.5f ? __fadd_rn(old, __fmul_rn(w, distance))
                                 : __fsub_rn(mean, __fmul_rn(__fsub_rn(1.0f, w), distance)));
}

template <class M>
__global__ void move_rows(AdafactorArguments a) {
  const float* own = a.gradient + blockIdx.x * a.columns;
  const float sum = sum_of_block(a.columns, [&](std::int64_t j) { return square(own[j]); });
  if (threadIdx.x == 0) move(static_cast<M*>(a.row) + blockIdx.x, __fdiv_rn(sum, a.per_row), a.share);
}

template <class M>
__global__ void move_columns(AdafactorArguments a) {
  const std::int64_t matrix = blockIdx.x / a.columns;
  const float* own = a.gradient + matrix * a.rows * a.columns + blockIdx.x % a.columns;
  const float sum = sum_of_block(a.rows, [&](std::int64_t i) { return square(own[i * a.columns]); });
  if (threadIdx.x == 0) move(static_cast<M*>(a.column) + blockIdx.x, __fdiv_rn(sum, a.per_column), a.share);
}

template <class M>
__global__ void mean_rows(AdafactorArguments a) {
  const M* own = static_cast<const M*>(a.row) + blockIdx.x * a.rows;
  const float sum = sum_of_block(a.rows, [&](std::int64_t i) { return to_float(own[i]); });
  if (threadIdx.x == 0) a.sums[2 + blockIdx.x] = __fdiv_rn(sum, a.per_column);
}

/// u of element i.
template <class M>
__device__ float update(const AdafactorArguments& a, std::int64_t i) {
  const std::int64_t row = i / a.columns, matrix = row / a.rows;
  float v = to_float(static_cast<const M*>(a.row)[row]);
  if (a.column != nullptr) {
    const float column = to_float(static_cast<const M*>(a.column)[matrix * a.columns + i % a.columns]);
    v = __fdiv_rn(__fmul_rn(v, column), at_least(a.eps1, a.sums[2 + matrix]));
  }
  return __fmul_rn(__fdiv_rn(1.0f, __fsqrt_rn(at_least(a.squared_eps1, v))), a.gradient[i]);
}

/// The parameter's squares in the first block, the update's in the second.
template <class M>
__global__ void sum_squares(AdafactorArguments a, std::int64_t elements) {
  const M* parameter = static_cast<const M*>(a.parameter);
  const bool of_update = blockIdx.x == 1;
  const float sum = sum_of_block(
      elements, [&](std::int64_t i) { return square(of_update ? update<M>(a, i) : to_float(parameter[i])); });
  if (threadIdx.x == 0) a.sums[blockIdx.x] = sum;
}

template <class M>
__global__ void step(AdafactorArguments a, std::int64_t elements) {
  M* parameter = static_cast<M*>(a.parameter);
  const float rms_p = __fsqrt_rn(__fdiv_rn(a.sums[0], a.per_tensor)),
              rms_u = __fsqrt_rn(__fdiv_rn(a.sums[1], a.per_tensor));
  const float alpha = __fmul_rn(at_least(a.eps2, rms_p), a.rho);
  const float length = __fdiv_rn(alpha, at_least(1.0f, __fdiv_rn(rms_u, a.d)));
  for (std::int64_t i = first_element(); i < elements; i += element_stride())
    parameter[i] = from_float<M>(__fsub_rn(to_float(parameter[i]), __fmul_rn(length, update<M>(a, i))));
}

/// One block each of so many sums of so many terms.
template <auto kernel, class... Arguments>
void launch_sums(Stream& stream, std::int64_t sums, std::int64_t terms, const Arguments&... arguments) {
  const std::int64_t threads = std::clamp<std::int64_t>((terms + 31) / 32 * 32, 32, threads_a_sum);
  if (!take_way({{"a term a thread", terms <= threads_a_sum}, {"terms in strides", terms > threads_a_sum}}) ||
      sums == 0)
    return;
  launch<kernel>(stream, {static_cast<unsigned>(sums), static_cast<unsigned>(threads)}, arguments...);
}

void adafactor(Stream& stream, const AdafactorArguments& a) {
  const std::int64_t elements = a.matrices * a.rows * a.columns;
  by_storage(a.format, [&]<class M>(M) {
    launch_sums<move_rows<M>>(stream, a.matrices * a.rows, a.columns, a);
    if (a.column != nullptr || declaring_paths()) {
      launch_sums<move_columns<M>>(stream, a.matrices * a.columns, a.rows, a);
      launch_sums<mean_rows<M>>(stream, a.matrices, a.rows, a);
    }
    launch_sums<sum_squares<M>>(stream, elements == 0 ? 0 : 2, elements, a, elements);
    launch_elements<step<M>>(stream, elements, a, elements);
  });
}

const RegisterKernel registered("adafactor",
                                {.variant = "block_sums",
                                 .additions = {{SumStep::lanes, threads_a_sum}, {SumStep::tree}},
                                 .as_written = true},
                                adafactor);

}  // namespace
}  // namespace tally::adafactor_kernel
