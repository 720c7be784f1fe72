// Bits that are known: stages and layers that round as kernels/arithmetic.md writes them, sums whose order a claim
// fixes.
#include "oracle/tolerance/predicted_bits.hpp"

#include <array>
#include <map>
#include <stdexcept>

#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/registered_files.hpp"
#include "oracle/tolerance/format.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

bool as_written(const Declared& declared, std::string_view operation) {
  return claim_of(declared, operation).as_written;
}

float held(const Decimal& written) { return static_cast<float>(written.to_double()); }

HeldConstant held(const Declared& declared, long double exact, long double margin) {
  if (declared.claims.constants != "binary64") return {};
  const auto low = static_cast<float>(static_cast<double>(exact - margin));
  const auto high = static_cast<float>(static_cast<double>(exact + margin));
  return low == high ? HeldConstant(low) : std::nullopt;
}

HeldConstant held_one_minus(const Declared& declared, const Decimal& c) {
  return held(declared, 1 - number<long double>(c), 0x1p-52L);
}

long double margin_of_rate(const Choice& schedule, long double exact, std::int64_t step) {
  const ScheduleRules& rules = schedule_rules(schedule);
  return rules.is_written ? std::fabs(exact) * 0x1p-53L : rules.rate(schedule, exact, step).margin;
}

Expected known(const Matrix<float>& bits) {
  return {bits.cast<long double>(), Matrix<double>::Zero(bits.rows(), bits.cols())};
}

namespace {

const PredictedRule& predicted_rule_of(const BoundPass& pass) {
  return RegisterKind<LayerRules>::of("bounds", "layer", pass.layer.kind).predicted;
}

}  // namespace

Prediction predicted_y(const BoundPass& pass, const Matrix<float>& x, const Statistics& statistics) {
  const auto rule = predicted_rule_of(pass).y;
  return rule == nullptr ? std::nullopt : rule(pass, x, statistics);
}

Prediction predicted_rstd(const BoundPass& pass, const Statistics& statistics) {
  const auto rule = predicted_rule_of(pass).rstd;
  return rule == nullptr ? std::nullopt : rule(pass, statistics);
}

Prediction predicted_dx(const BoundPass& pass, const Statistics& statistics, const Matrix<float>& dy) {
  const auto rule = predicted_rule_of(pass).dx;
  return rule == nullptr ? std::nullopt : rule(pass, statistics, dy);
}

Matrix<float> held(const Expected& tensor) { return tensor.v.cast<float>(); }

}  // namespace tally::oracle

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

namespace {

Bounded in_turn(const Arithmetic& fp32, const Arithmetic& storage, const std::vector<Bounded>& addends) {
  Bounded sum = addends.front();
  for (std::size_t i = 1; i < addends.size(); ++i) sum = storage.store(fp32.add(sum, addends[i]));
  return sum;
}

/// An addend passes through at most n - 1 additions, each of which rounds to fp32 and once more to the storage format:
/// |computed - sum| <= ((1 + u_32)^(n-1) (1 + u_S)^(n-1) - 1) sum |a_i|, and what underflows on the way. What two
/// addends come to does not depend on their order.
Bounded in_any_order(const Arithmetic& fp32, const Arithmetic& storage, const std::vector<Bounded>& addends) {
  if (addends.size() < 3) return in_turn(fp32, storage, addends);
  const auto additions = static_cast<double>(addends.size() - 1);
  Bounded sum{};
  double size = 0;
  for (const Bounded& addend : addends) {
    sum.v += addend.v;
    sum.e += addend.e;
    size += std::fabs(addend.v) + addend.e;
  }
  const double twice = std::expm1(additions * (std::log1p(fp32.u()) + std::log1p(storage.u())));
  sum.e += twice * size + 2 * additions * (1 + twice) * (fp32.underflow() + storage.underflow());
  if (!((size + sum.e) < storage.threshold())) sum.e = infinite;
  sum.e *= inflation;
  return sum;
}

}  // namespace

Expected added_in_turn(const Declared& declared, std::string_view operation,
                       const std::vector<const Expected*>& addends) {
  const Arithmetic fp32 = single(declared), storage(declared, declared.storage);
  const bool ordered = as_written(declared, operation);
  Matrix<long double> exact = addends.front()->v;
  for (std::size_t j = 1; j < addends.size(); ++j) exact += addends[j]->v;
  BoundedMatrix bound(exact.rows(), exact.cols());
  std::vector<BoundedMatrix> inputs;
  for (const Expected* addend : addends) inputs.emplace_back(declared, *addend);
  std::vector<Bounded> elements(addends.size());
  for (Eigen::Index r = 0; r < bound.rows(); ++r) {
    for (Eigen::Index c = 0; c < bound.cols(); ++c) {
      for (std::size_t j = 0; j < inputs.size(); ++j) elements[j] = inputs[j].at(r, c);
      bound.set(r, c, ordered ? in_turn(fp32, storage, elements) : in_any_order(fp32, storage, elements));
    }
  }
  return joined(declared, std::move(exact), std::move(bound));
}

Prediction predicted_in_turn(const Declared& declared, std::string_view operation,
                             const std::vector<Matrix<float>>& addends) {
  if (!as_written(declared, operation)) return {};
  return of_each(addends.front().rows(), addends.front().cols(), [&](Eigen::Index i) {
    float sum = addends.front().data()[i];
    for (std::size_t j = 1; j < addends.size(); ++j) sum = stored(declared.storage, sum + addends[j].data()[i]);
    return sum;
  });
}

}  // namespace tally::oracle
