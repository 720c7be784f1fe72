#include "oracle/tolerance/ordered_sum.hpp"

#include <array>

#include "oracle/tolerance/rounded.hpp"
#include "oracle/tolerance/rule.hpp"

// Compiled twice on x86-64, with and without fused multiply-add instructions; without them fma is a call with its bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define TALLY_CLONES __attribute__((target_clones("fma", "default")))
#else
#define TALLY_CLONES
#endif

namespace tally::oracle {
namespace {

constexpr Eigen::Index lanes = 8, shared_rows = 64;

float in_order(const Matrix<float>& x, Eigen::Index column, Eigen::Index first, Eigen::Index stride) {
  float sum = 0;
  for (Eigen::Index row = first; row < x.rows(); row += stride) sum += x(row, column);
  return sum;
}

float by_lanes(const Matrix<float>& x, Eigen::Index column) {
  std::array<float, lanes> sums{};
  for (Eigen::Index lane = 0; lane < lanes; ++lane) {
    sums[static_cast<std::size_t>(lane)] = in_order(x, column, lane, lanes);
  }
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

/// acc[j] = fma(a, b[j], acc[j]).
TALLY_CLONES void add_products(float a, const float* b, float* acc, Eigen::Index n) {
  for (Eigen::Index j = 0; j < n; ++j) acc[j] = __builtin_fmaf(a, b[j], acc[j]);
}

}  // namespace

bool orders_products(const Declared& declared) {
  const KernelClaim& claim = claim_of(declared, "gemm");
  const bool rounds_in_fp32 = declared.compute.p == 24 && !declared.tf32 && !declared.claims.flushes_subnormals;
  return claim.algorithm == "in_order_fma" && claim.splits == 1 && rounds_in_fp32;
}

std::optional<Matrix<float>> ordered_product(const Declared& declared, const Matrix<float>& a, const Matrix<float>& b) {
  if (!orders_products(declared)) return std::nullopt;
  Matrix<float> product = Matrix<float>::Zero(a.rows(), b.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index k = 0; k < a.cols(); ++k) {
      add_products(a(i, k), b.data() + k * b.cols(), product.data() + i * b.cols(), b.cols());
    }
  }
  if (!product.allFinite()) return std::nullopt;  // the bound says what may become of those
  const Format stored = format_of(claim_of(declared, "gemm").result);
  return product.unaryExpr([&](float x) { return static_cast<float>(rounded(stored, static_cast<double>(x))); });
}

std::optional<Matrix<float>> ordered_bias_gradient(const Declared& declared, const Matrix<float>& dy) {
  const std::string& order = claim_of(declared, "linear.bias_gradient").algorithm;
  if (order != "in_order" && order != "column_lanes") return std::nullopt;
  const bool apart = order == "column_lanes" && dy.rows() >= shared_rows;
  Matrix<float> sums(1, dy.cols());
  for (Eigen::Index column = 0; column < dy.cols(); ++column) {
    const float sum = apart ? by_lanes(dy, column) : in_order(dy, column, 0, 1);
    sums(0, column) = static_cast<float>(rounded(declared.storage, static_cast<double>(sum)));
  }
  return sums;
}

}  // namespace tally::oracle
