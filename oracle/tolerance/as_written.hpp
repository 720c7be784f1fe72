// Stages that round as kernels/arithmetic.md writes them, operation by operation: every bit of theirs is known. A
// prediction is made from the definition of one IEEE operation a line, and only where each constant is one fp32 for
// certain; the caller falls back to the bound where there is none. oracle/tolerance.md, "Predicted bits".
#pragma once

#include <optional>
#include <string_view>

#include "oracle/tolerance/expected.hpp"
#include "oracle/tolerance/rounded.hpp"

namespace tally::oracle {

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

}  // namespace tally::oracle
