// A tensor the oracle expects: its exact value and a bound on every legal evaluation.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "oracle/exact/exact.hpp"
#include "oracle/layers/claim.hpp"
#include "oracle/real/number.hpp"
#include "oracle/real/product.hpp"
#include "oracle/tolerance/declared.hpp"
#include "oracle/tolerance/format.hpp"
#include "oracle/tolerance/summation.hpp"

namespace tally::oracle {

/// |subject - v| <= e holds, element by element, for every evaluation that the subject's claims allow. e = 0: bit for
/// bit. v is the exact function's value in long double; its own error (2^-64 based) is inside e. e may be +inf:
/// undecidable. r and s, the random part of e and its variance proxy (oracle/tolerance/bounded.hpp), are empty where
/// nothing is said of it.
struct Expected {
  Matrix<long double> v;
  Matrix<double> e;
  Matrix<double> r = {}, s = {};
  double sharing = 1;  // how many elements may err together in their random parts (oracle/tolerance/summation.hpp)
  std::shared_ptr<Similarity> similarity = {};  // where v is read by several products
  /// What the subject read, for rules that take floats in place of v and e, which are then empty; see whole().
  const Tensor* only_read = nullptr;
};

/// A subject's own bits: v as read, e = 0.
Expected as_read(const Tensor& tensor);
/// The same for a rule that takes floats (BoundRule::output_rows); `tensor` must last.
Expected only_read(const Tensor& tensor);
/// Rows of a tensor, as as_read() has them.
Expected as_read(const Tensor& tensor, Eigen::Index first, Eigen::Index rows);
/// How many rows as_read() has of a tensor: 1 of a vector.
Eigen::Index row_count(const Tensor& tensor);
/// With v and e, where x is only read; else x.
Expected whole(const Expected& x);
/// The same as floats, which hold all three formats. Throws std::invalid_argument for integers.
Matrix<float> floats_of(const Tensor& tensor);

/// floats_of() without a copy where the tensor holds fp32, which must last as long.
class FloatView {
 public:
  explicit FloatView(const Tensor& tensor);
  FloatView(FloatView&&) = default;
  FloatView(const FloatView&) = delete;
  operator FloatsRef() const { return Eigen::Map<const Matrix<float>>(first_, rows_, columns_); }
  FloatsRef matrix() const { return *this; }
  const float* data() const { return first_; }

 private:
  Matrix<float> converted_;  // of the 16-bit formats
  const float* first_;
  Eigen::Index rows_, columns_;
};

/// What a subject declares, as bound rules read it, asked for everything that a verdict takes.
Declared declared(const Precision& precision, const Claims& claims);

using ExpectedTensors = std::map<std::string, Expected>;

/// One layer over some rows: as Pass, with bounded tensors.
struct BoundPass {
  const Layer& layer;
  const ExpectedTensors& tensors;  // by short name
  Cut cut;
  const Declared& declared;
  Decisions decisions = {};
  bool gives_dx = true;                      // else a rule may leave dx out
  std::vector<const Expected*> others = {};  // the inputs behind the first, of a layer that reads several

  /// The same pass, asked for something else.
  BoundPass asked(const Declared& now) const { return {layer, tensors, cut, now, decisions, gives_dx, others}; }
};

struct ExpectedForward {
  Expected y, mean, var, rstd;  // y as stored; statistics in fp32, empty where the layer has none
  Expected lse = {};
};
struct ExpectedBackward {
  Expected dx;
  ExpectedTensors parameters;
  std::vector<Expected> more_dx = {};  // of the inputs behind the first, where they are not alike
  Expected delta = {};                 // fp32, of attention
};

/// One rule serves both lenses: e of the inputs zero gives the local bound, propagated e the end-to-end bound.
struct BoundRule {
  ExpectedForward (*forward)(const BoundPass& pass, const Expected& x);
  ExpectedBackward (*backward)(const BoundPass& pass, const Expected& x, const Expected& dy);
  /// Rows first .. first + rows - 1 of "y", "dx" or the gradient of a parameter, from inputs and tensors that are
  /// only_read(), by the same rule; nothing where that needs v and e of them. nullptr for a rule that always does, and
  /// is never given what is only read.
  std::optional<Expected> (*output_rows)(const BoundPass& pass, const std::string& output, const Expected& x,
                                         const Expected& dy, Eigen::Index first, Eigen::Index rows) = nullptr;
};

/// Throws std::logic_error for a kind without one.
const BoundRule& bound_rule(std::string_view kind);

struct ExpectedLoss {
  Expected loss;  // [1, rows] fp32, each row's own loss before the factor
  Expected dy;    // [rows, features] storage
};
struct LossBoundRule {
  ExpectedLoss (*evaluate)(const Choice& loss, const Declared& declared, const Expected& y,
                           const Matrix<long double>& target, const Matrix<long double>& item_weight,
                           const Expected& row_factor);
};
/// Throws likewise.
const LossBoundRule& loss_bound_rule(std::string_view kind);

}  // namespace tally::oracle
