// (slice.1)  y = x[begin .. end)
// (slice.2)  dx[begin .. end) = dy, 0 elsewhere
// slice: (slice.1) and (slice.2) are copies, and have no error of their own.
#include "oracle/case/contract.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle::slice_kind {
namespace {

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  const Eigen::Index begin = pass.layer.integer("begin");
  return {x.middleCols(begin, pass.layer.integer("end") - begin), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>& x, const Matrix<T>& dy) {
  Matrix<T> dx = Matrix<T>::Zero(x.rows(), x.cols());
  dx.middleCols(pass.layer.integer("begin"), dy.cols()) = dy;
  return {dx, {}};
}

std::vector<Misfit> sizes(const Choice& layer, const std::vector<std::int64_t>& features) {
  if (features.size() != 1) return {};  // the list of inputs says so itself
  const std::int64_t begin = layer.integer("begin"), end = layer.integer("end");
  if (begin >= end) return {{"end", std::to_string(end), "more than " + std::to_string(begin) + ", where it begins"}};
  if (end <= features[0]) return {};
  return {{"end", std::to_string(end), "at most " + std::to_string(features[0]) + ", the features"}};
}

const Contract contract{
    .kind = "slice",
    .options = {{.name = "begin",
                 .type = OptionType::integer,
                 .standard = std::nullopt,
                 .range = {.at_least = "0"},
                 .since = 2},
                {.name = "end",
                 .type = OptionType::integer,
                 .standard = std::nullopt,
                 .range = {.at_least = "1"},
                 .since = 2}},
    .drawn = false,
    .input_misfits = sizes,
    .out_features = [](const Choice& layer, std::int64_t) { return layer.integer("end") - layer.integer("begin"); },
    .definition = "y = the features of x from begin to end - 1"};

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

const Register<LayerDefinition> registered{{contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{forward, backward}}}};

}  // namespace
}  // namespace tally::oracle::slice_kind
