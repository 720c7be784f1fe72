// Softmax and its logarithm along one dimension, with m the largest x, t = x - m, S = sum e^t and q = e^t / S, and their
// gradients. How far log(e^t) may be off is d = u |t| + the exponential's own error; the relative error of S is then
// r = sum q expm1(d), enlarged by its additions. No error is neglected to first order.
#include <algorithm>
#include <cmath>

#include "oracle/operations/products.hpp"

namespace tally::oracle::operations::softmax_rules {
namespace {

using Demands = std::vector<Demand>;
constexpr double library_ulps = 2;
constexpr double least_normal = 0x1p-126;

struct Claims {
  double exp, log;  // relative errors, in units of u
  bool between;     // exponentials, and of the logarithm the largest and the sum, are stored in 16 bits
};

Claims claims_of(const Call& call, const Profile& profile, Element element) {
  // A kernel of 16 bits may have a coarser exponential.
  const double coarse = profile.number(call.name, element, "exp_relative", 0) / fp32().u();
  return {std::max(coarse, 2 * profile.number("exp", Element::float32, "ulps", library_ulps)),
          2 * profile.number("log", Element::float32, "ulps", library_ulps),
          profile.says(call.name, element, "rounds_between")};
}

/// One row, with what its exponentials and their sum may be off.
struct Row {
  double largest, log_of_sum = 0, relative = 0, absolute = 0;  // log S; errors of S and of q
  bool known = true;                                           // nothing in it is NaN or +infinity
  std::vector<double> q, d;

  /// `stored`, `lost`: what an exponential may lose in a store, relatively and below the normal range.
  Row(const double* x, std::int64_t n, const Claims& claims, double u, double stored = 0, double lost = 0) {
    largest = -infinite;
    for (std::int64_t i = 0; i < n; ++i) {
      known = known && !std::isnan(x[i]) && x[i] < infinite;
      largest = std::max(largest, x[i]);
    }
    known = known && largest > -infinite;
    if (!known) return;
    q.resize(static_cast<std::size_t>(n));
    d.resize(q.size());
    double sum = 0;
    for (std::size_t i = 0; i < q.size(); ++i) {
      const double t = x[i] - largest;
      q[i] = std::exp(t);
      d[i] = std::isfinite(t) ? u * std::fabs(t) + claims.exp * u + stored : 0;
      sum += q[i];
    }
    for (std::size_t i = 0; i < q.size(); ++i) {
      q[i] /= sum;
      relative += q[i] * std::expm1(d[i]);
    }
    const double additions = gam(static_cast<double>(n) + 2, u);
    relative = relative + additions + relative * additions + static_cast<double>(n) * (least_normal + lost) / sum;
    absolute = lost / sum;
    log_of_sum = std::log(sum);
  }
};

template <class F>
Demand by_rows(const std::string& name, const View& out, std::vector<View> in, F f) {
  const std::int64_t n = std::max<std::int64_t>(out.size(-1), 1);
  return {name,
          out,
          Demand::bound,
          n,
          [=](Part& part) {
            std::vector<std::vector<double>> rows(in.size(), std::vector<double>(static_cast<std::size_t>(n)));
            const Arithmetic& storage = arithmetic_of(out.element);
            for (std::int64_t at = 0; at < part.count; at += n) {
              for (std::size_t k = 0; k < in.size(); ++k) in[k].read(part.first + at, n, rows[k].data());
              f(rows, n, part.v + at, part.e + at);
              for (std::int64_t i = at; i < at + n; ++i) {
                const Bounded stored = storage.store({part.v[i], part.e[i]});
                part.v[i] = stored.v;
                part.e[i] = stored.e;
              }
            }
          },
          {}};
}

/// q = e^(x - m) / S
Demands softmax(const Call& call, const Profile& profile) {
  const std::int64_t dim = call.integer("dim");
  const View out = output_of(call).with_last(dim), x = call.tensor("self").with_last(dim);
  const Claims claims = claims_of(call, profile, x.element);
  const bool safe = call.name == "_safe_softmax";
  const double u = fp32().u(), stored = claims.between ? arithmetic_of(x.element).u() : 0;
  const double lost = claims.between ? arithmetic_of(x.element).underflow() : 0;
  return {by_rows(output_name(call), out, {x}, [=](auto& rows, std::int64_t n, double* v, double* e) {
    const Row row(rows[0].data(), n, claims, u, stored, lost);
    for (std::int64_t i = 0; i < n; ++i) {
      if (!row.known) {  // a row of -infinity alone, or with NaN or +infinity
        const bool dead = row.largest == -infinite &&
                          std::none_of(rows[0].begin(), rows[0].end(), [](double t) { return std::isnan(t); });
        v[i] = safe && dead ? 0 : NAN;
        if (!dead && !std::isnan(row.largest)) e[i] = 0;
        continue;
      }
      const auto at = static_cast<std::size_t>(i);
      v[i] = row.q[at];
      if (row.relative >= 1) {
        e[i] = 1;
        continue;
      }
      const double most = std::exp(row.d[at]) / (1 - row.relative) * (1 + u) * (1 + u) - 1;
      e[i] =
          std::min(1.0, (row.q[at] * most + (row.absolute + least_normal) / (1 - row.relative) * (1 + u)) * inflation);
    }
  })};
}
const RegisterOperations softmaxes{{"_softmax", "_safe_softmax", "softmax"}, softmax};

/// (x - m) - log S or x - (m + log S)
Demands log_softmax(const Call& call, const Profile& profile) {
  const std::int64_t dim = call.integer("dim");
  const View out = output_of(call).with_last(dim), x = call.tensor("self").with_last(dim);
  const Claims claims = claims_of(call, profile, x.element);
  const double u = fp32().u(), s = claims.between ? arithmetic_of(x.element).u() : 0;
  return {by_rows(output_name(call), out, {x}, [=](auto& rows, std::int64_t n, double* v, double* e) {
    const Row row(rows[0].data(), n, claims, u);
    for (std::int64_t i = 0; i < n; ++i) {
      if (!row.known) {
        v[i] = NAN;
        continue;
      }
      const double t = rows[0][static_cast<std::size_t>(i)] - row.largest, log = row.log_of_sum;
      v[i] = t - log;
      if (!std::isfinite(t)) continue;
      const double of_log = row.relative < 1 ? std::max(std::log1p(row.relative), -std::log1p(-row.relative)) +
                                                   claims.log * u * std::fabs(log) + s * std::fabs(log)
                                             : infinite;
      const double first = (u + s) * std::fabs(t), second = (u + s) * (std::fabs(row.largest) + std::fabs(log));
      const double inside = of_log + std::max(first, second);
      e[i] = (inside + u * (std::fabs(v[i]) + inside)) * inflation;
    }
  })};
}
const RegisterOperations log_softmaxes{{"_log_softmax", "log_softmax"}, log_softmax};

/// q (g - sum g q) or g q - q sum g q; g - e^y sum g
Demands backward(const Call& call, const Profile& profile) {
  const std::int64_t dim = call.integer("dim");
  const View out = output_of(call).with_last(dim), g = call.tensor("grad_output").with_last(dim),
             y = call.tensor("output").with_last(dim);
  const bool log = call.name.starts_with("_log");
  const bool between = profile.says(call.name, out.element, "rounds_between");
  const FunctionError exp = claimed(profile.number("exp", Element::float32, "ulps", library_ulps) +
                                    profile.number(call.name, y.element, "exp_relative", 0) / fp32().u());
  return {by_rows(output_name(call), out, {g, y}, [=](auto& rows, std::int64_t n, double* v, double* e) {
    const Arithmetic& a = between ? arithmetic_of(out.element) : fp32();
    std::vector<double> terms = rows[0];
    if (!log)
      for (std::size_t i = 0; i < terms.size(); ++i) terms[i] *= rows[1][i];
    Bounded sum = summed(a, terms.data(), n, log ? 0 : 1).sum;
    if (!log && decided(sum)) sum.e += static_cast<double>(n) * least_normal;
    for (std::int64_t i = 0; i < n; ++i) {
      const Bounded gi{rows[0][static_cast<std::size_t>(i)], 0}, yi{rows[1][static_cast<std::size_t>(i)], 0};
      const Bounded found = log ? a.sub(gi, a.mul(a.monotone([](double t) { return std::exp(t); }, yi, exp), sum))
                                : wider(a.mul(yi, a.sub(gi, sum)), a.sub(a.mul(gi, yi), a.mul(yi, sum)));
      v[i] = found.v;
      e[i] = found.e;
    }
  })};
}
const RegisterOperations registered{{"_softmax_backward_data", "_log_softmax_backward_data"}, backward};

}  // namespace
}  // namespace tally::oracle::operations::softmax_rules
