// An activation's kernel in floats, and its rule held against it.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "tests/oracle/tolerance/emulation.hpp"

namespace tally::oracle::emulation {

using Forward = std::function<float(Subject&, float)>;
using Backward = std::function<float(Subject&, float, float)>;

inline float exp_of(Subject& s, float x) { return s.function(std::exp(static_cast<double>(x))); }
inline float tanh_of(Subject& s, float x) { return s.function(std::tanh(static_cast<double>(x))); }
inline float erf_of(Subject& s, float x) { return s.function(std::erf(static_cast<double>(x))); }
inline float sigmoid_of(Subject& s, float x) { return 1.0f / (1.0f + exp_of(s, -x)); }

struct Activation {
  const char *name, *kind;
  std::map<std::string, OptionValue> options;
  Forward forward;
  Backward backward;
  Forward wrong;                                // a term dropped
  std::string operations = {}, algorithm = {};  // what a kernel of these operations claims; nothing is claimed
};

inline Matrix<float> map(Subject& s, const Matrix<float>& x, const Forward& f) {
  Matrix<float> y = x;
  for (Eigen::Index i = 0; i < x.size(); ++i) y.data()[i] = s.store(f(s, x.data()[i]));
  return y;
}

/// The bound holds every element, forward and backward, from tiny inputs to saturated ones; the wrong function leaves
/// it; and it is approached, where the activation rounds at all.
inline void expect_bound(const Activation& a, Dtype storage, bool rounds = true) {
  Layer layer;
  layer.kind = a.kind;
  layer.options = a.options;
  Worst forward, backward;
  std::uint64_t moved = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Subject s(storage, seed);
    Claims claims;
    for (const char* direction : {".forward", ".backward"})
      if (!a.algorithm.empty()) claims.kernels[a.operations + direction].algorithm = a.algorithm;
    const Declared subject = declared(s.precision(), claims);
    const ExpectedTensors none;
    const BoundPass pass{layer, none, {4}, subject, {}};
    const Matrix<float> x = s.values(4, 25, seed % 3 == 0 ? 30 : seed % 3 == 1 ? 1 : 1e-3), dy = s.values(4, 25);
    forward.hold(bound_rule(a.kind).forward(pass, exactly(x)).y, map(s, x, a.forward));
    Matrix<float> dx = x;
    for (Eigen::Index i = 0; i < x.size(); ++i) dx.data()[i] = s.store(a.backward(s, x.data()[i], dy.data()[i]));
    backward.hold(bound_rule(a.kind).backward(pass, exactly(x), exactly(dy)).dx, dx);
    Worst wrong;
    wrong.hold(bound_rule(a.kind).forward(pass, exactly(x)).y, map(s, x, a.wrong));
    moved += wrong.over;
  }
  const std::string name = std::string(a.name) + " " + std::string(name_of(storage));
  EXPECT_GT(moved, forward.elements / 100) << name << ": a wrong function must leave the bound";
  if (!rounds) {
    EXPECT_EQ(forward.over + backward.over, 0u);
    return;
  }
  forward.expect_sound(name + " forward");
  backward.expect_sound(name + " backward");
}

}  // namespace tally::oracle::emulation
