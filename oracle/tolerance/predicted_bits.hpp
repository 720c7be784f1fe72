// Bits that are known: stages and layers that round as kernels/arithmetic.md writes them, sums whose order a claim
// fixes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "oracle/tolerance/expected.hpp"
#include "oracle/tolerance/format.hpp"

namespace tally::oracle {

// Stages that round as kernels/arithmetic.md writes them, operation by operation: every bit of theirs is known. A
// prediction is made from the definition of one IEEE operation a line, and only where each constant is one fp32 for
// certain; the caller falls back to the bound where there is none. oracle/tolerance.md, "Predicted bits".

/// The bits of a tensor, as floats, which hold all three formats.
using Prediction = std::optional<Matrix<float>>;

/// Whether the subject claims it of an operation.
bool as_written(const Declared& declared, std::string_view operation);

/// A constant of the recipe as the subject holds it.
using HeldConstant = std::optional<float>;

/// A number written in the case: read as the nearest binary64, rounded to fp32.
float held(const Decimal& written);
/// Derived in binary64 within `margin` of the exact number and rounded once to fp32: none where that may be either of
/// two floats, or where the subject derives its constants otherwise.
HeldConstant held(const Declared& declared, long double exact, long double margin);
/// 1 - c.
HeldConstant held_one_minus(const Declared& declared, const Decimal& c);

/// How far a learning rate in binary64 may be from the exact one.
long double margin_of_rate(const Choice& schedule, long double exact, std::int64_t step);

/// One fp32 value stored in a format.
inline float stored(const Format& format, float value) {
  return format.p == 24 ? value : static_cast<float>(rounded(format, value));
}

/// f of every element.
template <class F>
Matrix<float> of_each(Eigen::Index rows, Eigen::Index columns, F&& f) {
  Matrix<float> bits(rows, columns);
  for (Eigen::Index i = 0; i < bits.size(); ++i) bits.data()[i] = f(i);
  return bits;
}

/// Known bit by bit: e = 0.
Expected known(const Matrix<float>& bits);

// The bits of a layer's outputs that its subject claims to compute as kernels/arithmetic.md writes them. One file a
// kind, oracle/layers/<kind>.cpp; a kind without one is only bounded.

/// The statistics that the subject left, which its later lines read: empty where there are none, or no tap of them.
/// batch_norm has one of each a feature, layer_norm one a row.
struct Statistics {
  Matrix<float> mean, var, rstd;
};

struct PredictedRule {
  Prediction (*y)(const BoundPass& pass, const Matrix<float>& x, const Statistics& statistics) = nullptr;
  Prediction (*rstd)(const BoundPass& pass, const Statistics& statistics) = nullptr;
  Prediction (*dx)(const BoundPass& pass, const Statistics& statistics, const Matrix<float>& dy) = nullptr;
};

/// What a layer's kind says beside its exact mathematics (oracle/register_kind.hpp).
struct LayerRules {
  BoundRule bound;
  PredictedRule predicted = {};
};

Prediction predicted_y(const BoundPass& pass, const Matrix<float>& x, const Statistics& statistics);
Prediction predicted_rstd(const BoundPass& pass, const Statistics& statistics);
Prediction predicted_dx(const BoundPass& pass, const Statistics& statistics, const Matrix<float>& dy);

/// A parameter of the layer as the subject reads it; 1 x n.
Matrix<float> held(const Expected& tensor);

/// (mse.2), one operation a line as kernels/arithmetic.md writes it.
Prediction predicted_mse_gradient(const Declared& declared, const Matrix<float>& y, const Matrix<float>& target,
                                  const Matrix<long double>& item_weight, float factor);

// Sums whose order a claim fixes: their bits are known. Where two orders differ by a bit, both stay inside the bound of
// any order; the bits alone tell that another order ran than was declared.

/// The column sums of dy [rows, features], [1, features]: additions in fp32 in the order that the claim's `algorithm`
/// names, rounded once to the storage format. nullopt: it names none, and every order is legal.
///   in_order      row after row
///   column_lanes  below 64 rows in order; from 64 rows on, lane l of 8 adds rows l, l + 8, ... in order, and the
///                 sums of lanes are added pairwise: l and l + 4, then l and l + 2, then 0 and 1
std::optional<Matrix<float>> ordered_bias_gradient(const Declared& declared, const Matrix<float>& dy);

/// Whether the claim of "gemm" fixes the order of a product's additions.
bool orders_products(const Declared& declared);

/// A [m, k] times B [k, n] as the claim of "gemm" says by its `algorithm`, rounded once to its result format. nullopt:
/// it names no order, rounds otherwise than to nearest in fp32, or comes to something that is not finite.
///   in_order_fma   from 0, acc = fma(a, b, acc) in fp32 from the first of the k terms to the last
std::optional<Matrix<float>> ordered_product(const Declared& declared, const Matrix<float>& a, const Matrix<float>& b);

// Tensors of one shape added one after another, each sum stored: (add.1) and (add.3).

/// ((a_0 + a_1) + a_2) + …, every sum computed in fp32 and stored in the storage format, where the operation claims to
/// be as written; else the same sum in any order, stored after every addition or only at the end. At least one addend.
Expected added_in_turn(const Declared& declared, std::string_view operation,
                       const std::vector<const Expected*>& addends);

/// Its bits, where the operation claims them.
Prediction predicted_in_turn(const Declared& declared, std::string_view operation,
                             const std::vector<Matrix<float>>& addends);

}  // namespace tally::oracle
