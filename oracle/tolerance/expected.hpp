// A tensor the oracle expects: its exact value and a bound on every legal evaluation.
#pragma once

#include <memory>
#include <source_location>
#include <string_view>

#include "oracle/layers/claim.hpp"
#include "oracle/layers/exact.hpp"
#include "oracle/real/matrix.hpp"
#include "oracle/tolerance/format.hpp"
#include "oracle/tolerance/likeness.hpp"

namespace tally::oracle {

/// |subject - v| <= e holds, element by element, for every evaluation that the subject's claims allow. e = 0: bit for
/// bit. v is the exact function's value in long double; its own error (2^-64 based) is inside e. e may be +inf:
/// undecidable. r and s, the random part of e and its variance proxy (oracle/tolerance/bounded.hpp), are empty where
/// nothing is said of it.
struct Expected {
  Matrix<long double> v;
  Matrix<double> e;
  Matrix<double> r = {}, s = {};
  double sharing = 1;  // how many elements may err together in their random parts (oracle/tolerance/alike.hpp)
  std::shared_ptr<Likeness> likeness = {};  // where v is read by several products
};

/// A subject's own bits: v as read, e = 0.
Expected as_read(const Tensor& tensor);
/// The same as floats, which hold all three formats. Throws std::invalid_argument for integers.
Matrix<float> floats_of(const Tensor& tensor);

/// What the bound rules know of the subject.
struct Declared {
  const Claims& claims;
  Format storage, compute, accumulate, master;
  bool tf32 = false;
};
Declared declared(const Precision& precision, const Claims& claims);

using ExpectedTensors = std::map<std::string, Expected>;

/// One layer over some rows: as Pass, with bounded tensors.
struct BoundPass {
  const Layer& layer;
  const ExpectedTensors& tensors;  // by short name
  Cut cut;
  const Declared& declared;
  Decisions decisions = {};
  bool gives_dx = true;  // else a rule may leave dx out
};

struct ExpectedForward {
  Expected y, mean, var, rstd;  // y as stored; statistics in fp32, empty where the layer has none
};
struct ExpectedBackward {
  Expected dx;
  ExpectedTensors parameters;
};

/// One rule serves both lenses: e of the inputs zero gives the local bound, propagated e the end-to-end bound.
struct BoundRule {
  ExpectedForward (*forward)(const BoundPass& pass, const Expected& x);
  ExpectedBackward (*backward)(const BoundPass& pass, const Expected& x, const Expected& dy);
};

struct RegisterBoundRule {
  RegisterBoundRule(std::string_view kind, BoundRule rule, std::source_location at = std::source_location::current());
};
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
struct RegisterLossBoundRule {
  RegisterLossBoundRule(std::string_view kind, LossBoundRule rule,
                        std::source_location at = std::source_location::current());
};
const LossBoundRule& loss_bound_rule(std::string_view kind);

}  // namespace tally::oracle
