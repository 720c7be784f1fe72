// slice: (slice.1) and (slice.2) are copies, and have no error of their own.
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle::slice_bound {
namespace {

/// Some of the features, with all that is known of them.
Expected features_of(const Expected& x, Eigen::Index begin, Eigen::Index count) {
  Expected y{x.v.middleCols(begin, count), x.e.middleCols(begin, count)};
  if (x.s.size() != 0) {
    y.r = x.r.middleCols(begin, count);
    y.s = x.s.middleCols(begin, count);
  }
  y.sharing = x.sharing;
  return y;
}

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  const Eigen::Index begin = pass.layer.integer("begin");
  return {features_of(x, begin, pass.layer.integer("end") - begin), {}, {}, {}};
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  const Eigen::Index begin = pass.layer.integer("begin"), count = dy.v.cols();
  Expected dx{Matrix<long double>::Zero(x.v.rows(), x.v.cols()), Matrix<double>::Zero(x.v.rows(), x.v.cols())};
  dx.v.middleCols(begin, count) = dy.v;
  dx.e.middleCols(begin, count) = dy.e;
  if (dy.s.size() != 0) {
    dx.r = dx.s = Matrix<double>::Zero(x.v.rows(), x.v.cols());
    dx.r.middleCols(begin, count) = dy.r;
    dx.s.middleCols(begin, count) = dy.s;
  }
  dx.sharing = dy.sharing;
  return {dx, {}};
}

const RegisterBoundRule registered("slice", {forward, backward});

}  // namespace
}  // namespace tally::oracle::slice_bound
