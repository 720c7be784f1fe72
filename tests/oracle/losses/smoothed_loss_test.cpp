// The smoothed loss where nearly all of a row's weight is spread over many classes.
#include "tests/oracle/tolerance/emulation.hpp"

namespace tally::oracle::smoothed_loss_test {
namespace {

using emulation::exactly;
using emulation::Subject;
using emulation::Worst;

Choice smoothed(const std::string& epsilon, Eigen::Index classes, unsigned weighted) {
  Choice loss;
  loss.kind = "cross_entropy";
  std::vector<Decimal> weights;
  const std::string power = weighted > 1 ? "e-42" : "e-1";  // subnormal in fp32: held to a few bits
  for (Eigen::Index c = 0; weighted > 0 && c < classes; ++c) weights.push_back({std::to_string(3 + c % 7) + power});
  loss.options = {{"ignore_index", std::int64_t{-100}}, {"label_smoothing", Decimal{epsilon}}, {"weight", weights}};
  return loss;
}

/// The subject's weights: 1 - eps and eps / C, derived as it claims.
struct Shares {
  float keep, spread;
  std::vector<float> weight;
};

Shares shares_of(const Choice& loss, std::size_t classes, bool in_fp32) {
  const double epsilon = loss.number("label_smoothing").to_double();
  const auto n = static_cast<double>(classes);
  const auto rounded = static_cast<float>(epsilon);
  Shares s{in_fp32 ? 1.0f - rounded : static_cast<float>(1 - epsilon),
           in_fp32 ? rounded / static_cast<float>(n) : static_cast<float>(epsilon / n),
           std::vector<float>(classes, 1.0f)};
  for (std::size_t c = 0; c < loss.numbers("weight").size(); ++c) {
    s.weight[c] = static_cast<float>(loss.numbers("weight")[c].to_double());
  }
  return s;
}

/// The sum of addends from the first on: roundings of one sign add up.
float in_order(const std::vector<float>& terms) {
  float sum = 0;
  for (const float term : terms) sum = sum + term;
  return sum;
}

float loss_of(const Shares& s, const std::vector<float>& nll, std::size_t target, bool apart) {
  std::vector<float> terms;
  for (std::size_t c = 0; c < nll.size(); ++c) {
    const float even = s.spread * s.weight[c], share = c == target ? s.keep * s.weight[c] + even : even;
    terms.push_back(apart ? s.weight[c] * nll[c] : share * nll[c]);
  }
  return apart ? (s.keep * s.weight[target]) * nll[target] + s.spread * in_order(terms) : in_order(terms);
}

TEST(SmoothedLoss, HoldsEveryAssociationAndDerivationNearFullSmoothing) {
  Worst worst;
  for (const char* epsilon : {"0.1", "0.999", "0.9999999", "0.99999999999", "0.9999999999999999", "1"}) {
    for (const Eigen::Index classes : {2, 10, 100, 1000}) {
      for (unsigned seed = 1; seed <= 24; ++seed) {
        Subject s(Dtype::fp32, seed);
        const unsigned weighted = seed % 5 % 3;
        const bool in_fp32 = seed % 3 == 0;
        Claims claims;
        claims.constants = in_fp32 ? "fp32" : "binary64";
        const Declared subject = declared(Precision{}, claims);
        const Choice loss = smoothed(epsilon, classes, weighted);
        Matrix<float> z = s.values(1, classes, seed % 4 == 1 ? 0 : 4);
        const auto n = static_cast<std::size_t>(classes);
        const std::size_t t = seed % n;
        if (seed % 4 == 3) z(0, static_cast<Eigen::Index>(t)) = -80;  // a target that all but its own weight forgets
        const float most = z.maxCoeff();
        std::vector<float> exps, nll;
        for (std::size_t c = 0; c < n; ++c)
          exps.push_back(static_cast<float>(std::exp(static_cast<double>(z.data()[c] - most))));
        const auto log_sum = static_cast<float>(std::log(static_cast<double>(in_order(exps))));
        for (std::size_t c = 0; c < n; ++c) nll.push_back(log_sum - (z.data()[c] - most));
        const Shares shares = shares_of(loss, n, in_fp32);
        const Matrix<long double> target = Matrix<long double>::Constant(1, 1, static_cast<long double>(t)),
                                  one = Matrix<long double>::Ones(1, 1);
        const auto expected =
            loss_bound_rule("cross_entropy")
                .evaluate(loss, subject, exactly(z), target, one, exactly(Matrix<float>::Constant(1, 1, 1.0f)));
        for (const bool apart : {true, false}) {
          worst.hold(expected.loss, Matrix<float>::Constant(1, 1, loss_of(shares, nll, t, apart)));
        }
      }
    }
  }
  worst.expect_sound("smoothed row loss");
}

}  // namespace
}  // namespace tally::oracle::smoothed_loss_test
