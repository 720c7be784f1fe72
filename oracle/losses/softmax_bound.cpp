// Inputs within epsilon move log-softmax by at most 2 epsilon and a probability by the factor e^(2 epsilon); the
// rounding is bounded at the subject's own logits (oracle/variants.md, "Softmax").
#include "oracle/losses/softmax_bound.hpp"

#include <stdexcept>

namespace tally::oracle {
namespace {

/// A row that holds something non-finite: max z = inf or NaN makes every difference NaN; -inf alone stays open.
SoftmaxRow non_finite_row(const BoundedMatrix& z, Eigen::Index i) {
  bool poisoned = false, open = false;
  for (Eigen::Index c = 0; c < z.cols(); ++c) {
    poisoned = poisoned || std::isnan(z.v(i, c)) || z.v(i, c) == infinite;
    open = open || !decided(z.at(i, c));
  }
  const Bounded all{NAN, poisoned && !open ? 0 : infinite};
  const auto classes = static_cast<std::size_t>(z.cols());
  return {std::vector<Bounded>(classes, all), std::vector<Bounded>(classes, all), all};
}

/// One row's sum of exponentials and what its rounding costs.
struct ExpSum {
  Eigen::ArrayXd d, exps, rho;  // z - max z, exp of it, relative error of one term
  double u, rho_function, floor, epsilon, most, log_sum;
  double rho_sum, e_log;  // relative error of the sum, absolute error of its logarithm; epsilon apart
};

/// A term's argument is rounded by u |d| in all, whatever the blocks: the differences of a rescaled term's maxima add
/// up to its own. Each rescaling brings one more exp and one product, and a floor for what underflows in it.
ExpSum exp_sum(const Arithmetic& fp32, const SoftmaxForm& form, const BoundedMatrix& z, Eigen::Index i) {
  ExpSum r;
  const auto classes = static_cast<double>(z.cols());
  r.u = fp32.u();
  r.rho_function = fp32.relative_error_of(form.functions);
  r.floor = fp32.least_error_of(form.functions);
  r.most = z.v.row(i).maxCoeff();
  r.epsilon = z.e.row(i).maxCoeff();
  r.d = z.v.row(i).array() - r.most;
  r.exps = r.d.exp();
  const double s = r.exps.sum();
  r.log_sum = std::log(s);
  const double factors = std::expm1((form.rescales + 1) * std::log1p(r.rho_function) + form.rescales * std::log1p(r.u));
  const Eigen::ArrayXd arguments =
      (r.u * (r.d.abs() + 2 * r.epsilon)).unaryExpr([](double t) { return std::expm1(t); });
  r.rho = (1 + factors) * arguments + factors;
  const double lost = (classes + 2 * classes * form.rescales) * r.floor;
  const double terms = (r.exps * r.rho).sum() / s * std::exp(2 * r.epsilon) + lost;
  const double growth = gam(form.height, r.u);
  r.rho_sum = terms * (1 + growth) + growth;
  const double spread = -std::log1p(-std::min(r.rho_sum, 1.0));
  r.e_log = spread + r.rho_function * (std::fabs(r.log_sum) + 2 * r.epsilon + spread) + r.floor;
  return r;
}

struct Term {
  Bounded nll, p;
};

/// p (e^(2 epsilon) (1 + relative) - 1), never more than the whole range, and what underflows.
Bounded probability(const ExpSum& r, double p, double relative) {
  const double moved = p * (std::expm1(2 * r.epsilon) * (1 + relative) + relative);
  return {p, (std::min(moved, std::max(p, 1 - p) + relative) + 4 * r.floor) * inflation};
}

Term by_quotient(const SoftmaxForm& form, const ExpSum& r, Eigen::Index c) {
  const double nll = r.log_sum - r.d[c], p = std::exp(-nll);
  const double argued = r.e_log + r.u * (std::fabs(r.d[c]) + 2 * r.epsilon);
  const double quotient = (r.rho[c] + r.rho_sum) / (1 - r.rho_sum), rounded = gam(form.quotient_roundings, r.u);
  return {{nll, (2 * r.epsilon + argued + r.u * (nll + 2 * r.epsilon + argued)) * inflation},
          probability(r, p, quotient * (1 + rounded) + rounded)};
}

/// The sum M + l is as large as the logits are, so its rounding is u |lse|, not u |nll|. What the inputs move is apart.
double error_of_lse(const ExpSum& r) { return r.e_log + r.u * (std::fabs(r.most + r.log_sum) + r.epsilon + r.e_log); }

Term by_lse(const ExpSum& r, Eigen::Index c) {
  const double nll = r.log_sum - r.d[c], p = std::exp(-nll);
  const double e_lse = error_of_lse(r);
  const double argued = e_lse + r.u * (nll + 2 * r.epsilon + e_lse);
  const double relative = std::expm1(argued) * (1 + r.rho_function) + r.rho_function;
  return {{nll, (2 * r.epsilon + argued) * inflation}, probability(r, p, relative)};
}

}  // namespace

SoftmaxForm softmax_form(const KernelClaim& claim, double classes) {
  const std::string& name = claim.algorithm;
  const double height = height_of(claim, classes);
  const double blocks = claim.splits > 1 ? std::min(static_cast<double>(claim.splits), classes) : classes;
  // Where a declared order says how often a term meets others, it is rescaled no more often.
  const double rescales = claim.additions.empty() ? blocks - 1 : std::min(blocks - 1, height);
  const FunctionError functions = functions_of(claim);
  if (name == "three_pass") return {height, 0, true, false, 1, functions};
  if (name == "online") return {height, rescales, true, false, 2, functions};
  if (name == "lse") return {height, 0, false, true, 1, functions};
  if (name == "online_lse") return {height, rescales, false, true, 1, functions};
  if (name.empty() || name == "any") return {height, classes - 1, true, true, 2, functions};
  throw std::logic_error("softmax by '" + name + "' has no bound; expected three_pass, online, lse, online_lse or any");
}

SoftmaxRow softmax_row(const Arithmetic& fp32, const SoftmaxForm& form, const BoundedMatrix& z, Eigen::Index row) {
  if (!z.v.row(row).allFinite() || !(z.e.row(row).maxCoeff() < infinite)) return non_finite_row(z, row);
  const ExpSum r = exp_sum(fp32, form, z, row);
  SoftmaxRow terms;
  terms.lse = {r.most + r.log_sum, r.rho_sum < 1 ? (r.epsilon + error_of_lse(r)) * inflation : infinite};
  for (Eigen::Index c = 0; c < z.cols(); ++c) {
    Term wider{{0, infinite}, {0, infinite}};
    if (r.rho_sum < 1) {
      const Term first = form.by_quotient ? by_quotient(form, r, c) : by_lse(r, c);
      const Term second = form.by_lse ? by_lse(r, c) : first;
      wider = {first.nll.e >= second.nll.e ? first.nll : second.nll, first.p.e >= second.p.e ? first.p : second.p};
    }
    terms.nll.push_back(wider.nll);
    terms.p.push_back(wider.p);
  }
  return terms;
}

}  // namespace tally::oracle
