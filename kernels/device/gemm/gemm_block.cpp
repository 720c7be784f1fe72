#include "kernels/device/gemm/gemm_block.hpp"

#include <stdexcept>

// Compiled twice on x86-64, with and without fused multiply-add instructions; the program picks at start. Without them
// fma is a call, slower and equal to the bit.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define TALLY_CLONES __attribute__((target_clones("fma", "default")))
#else
#define TALLY_CLONES
#endif

namespace tally {
namespace {

constexpr std::size_t rows = GemmBlock::rows, columns = GemmBlock::columns;

/// Adds `count` products to every sum of a row: the sum stays in a register that long, and the loop over columns
/// becomes vectors. Inlined, so that each clone below compiles it for its own instructions.
template <bool fused, std::size_t count>
inline __attribute__((always_inline)) void add_run(const float* __restrict a, const float* __restrict b,
                                                   GemmBlock& sums) {
  for (std::size_t r = 0; r < rows; ++r) {
    float* __restrict row = sums.value[r];
    for (std::size_t j = 0; j < columns; ++j) {
      float acc = row[j];
      for (std::size_t p = 0; p < count; ++p) {
        const float left = a[p * rows + r], right = b[p * columns + j];
        acc = fused ? __builtin_fmaf(left, right, acc) : acc + left * right;
      }
      row[j] = acc;
    }
  }
}

template <bool fused>
inline __attribute__((always_inline)) void add_all(const float* a, const float* b, std::size_t k, GemmBlock& sums) {
  constexpr std::size_t unrolled = 8;
  GemmBlock acc = sums;
  for (; k >= unrolled; k -= unrolled, a += unrolled * rows, b += unrolled * columns) {
    add_run<fused, unrolled>(a, b, acc);
  }
  for (; k > 0; --k, a += rows, b += columns) add_run<fused, 1>(a, b, acc);
  sums = acc;
}

TALLY_CLONES void add_by_fma(const float* a, const float* b, std::size_t k, GemmBlock& sums) {
  add_all<true>(a, b, k, sums);
}

TALLY_CLONES void add_products(const float* a, const float* b, std::size_t k, GemmBlock& sums) {
  add_all<false>(a, b, k, sums);
}

void add(GemmBlock& to, const GemmBlock& from) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < columns; ++j) to.value[r][j] += from.value[r][j];
  }
}

/// k >= 1.
GemmBlock pairwise(const float* a, const float* b, std::size_t k) {
  GemmBlock sums;
  if (k == 1) {
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t j = 0; j < columns; ++j) sums.value[r][j] = a[r] * b[j];
    }
    return sums;
  }
  const std::size_t first = (k + 1) / 2;
  sums = pairwise(a, b, first);
  add(sums, pairwise(a + first * rows, b + first * columns, k - first));
  return sums;
}

/// Parts [0, ends[0]), [ends[0], ends[1]) ... by fma, each from zero; their sums added from the first.
template <class End>
void by_parts(const float* a, const float* b, std::size_t k, std::size_t parts, End end, GemmBlock& sums) {
  for (std::size_t part = 0, begin = 0; part < parts && begin < k; ++part) {
    const std::size_t stop = end(part);
    GemmBlock partial;
    add_by_fma(a + begin * rows, b + begin * columns, stop - begin, partial);
    if (begin == 0) {
      sums = partial;
    } else if (stop > begin) {
      add(sums, partial);
    }
    begin = stop;
  }
}

}  // namespace

void sum_products(const float* a, const float* b, std::size_t k, const GemmOrder& order, GemmBlock& sums) {
  sums = {};
  if (k == 0) return;
  const auto parameter = static_cast<std::size_t>(order.parameter);
  switch (order.kind) {
    case GemmOrder::Kind::sequential_fma:
      return add_by_fma(a, b, k, sums);
    case GemmOrder::Kind::sequential_mul_add:
      return add_products(a, b, k, sums);
    case GemmOrder::Kind::pairwise:
      sums = pairwise(a, b, k);
      return;
    case GemmOrder::Kind::chunked: {
      const auto end = [&](std::size_t part) { return part + 1 > k / parameter ? k : (part + 1) * parameter; };
      return by_parts(a, b, k, k / parameter + 1, end, sums);
    }
    case GemmOrder::Kind::split_k: {
      const std::size_t parts = parameter < k ? parameter : k;
      return by_parts(
          a, b, k, parts, [&](std::size_t part) { return (part + 1) * k / parts; }, sums);
    }
    default:
      throw std::logic_error("the order " + to_string(order) + " adds no scalars");
  }
}

}  // namespace tally
