// p is a parameter of n elements, g its gradient, lr the rate, t the steps taken before this one. A parameter of two
// dimensions or more is a matrix of R rows and C columns, or several; i counts rows, j columns. A vector is not
// factored. RMS(x) is the root of the mean of the squares of all n elements.
// (adafactor.1)  w = (t+1)^-decay,  rho = min(lr, 1 / sqrt(t+1)),  alpha = max(eps2, RMS(p)) rho
// (adafactor.2)  r_i <- (1 - w) r_i + w/C sum_j g_ij²
// (adafactor.3)  c_j <- (1 - w) c_j + w/R sum_i g_ij²
// (adafactor.4)  v <- (1 - w) v + w g², of a vector
// (adafactor.5)  v_ij = r_i c_j / max(1/R sum_i r_i, eps1), of a matrix
// (adafactor.6)  u = g / sqrt(max(v, eps1²))
// (adafactor.7)  p <- p - alpha / max(1, RMS(u) / d) u
// Shazeer and Stern 2018, "Adafactor: Adaptive learning rates with sublinear memory cost", as PyTorch states it; p is
// what the step reads, a decoupled decay behind it, where PyTorch takes the RMS of (adafactor.1) in front of its decay.
// Adafactor: (adafactor.1) to (adafactor.7) by the operations of kernels/arithmetic.md. A mean is a sum in any order of
// the claim's height and a quotient, the sum of squares of a subject that claims nothing perhaps the square of a norm;
// what is kept moves towards it as libraries interpolate. Each maximum moves by no more than the larger of its
// arguments does, so that no choice between them is open: |max(a', b') - max(a, b)| <= max(|a' - a|, |b' - b|). However
// far an interval reaches, no divisor is smaller than eps1, or 1, and what the root is taken of no smaller than eps1².
// One mean and one RMS are shared by all elements: nothing of them is random for any one.
// Bit by bit: (adafactor.4) alone, as a sum goes into all others.
#include <cmath>
#include <string_view>

#include "oracle/case/contract.hpp"
#include "oracle/case/kept_tensors.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"
#include "oracle/tolerance/moments.hpp"

namespace tally::oracle::adafactor_kind {
namespace {

/// In the order of the contract. A matrix has the first two, a vector the last.
enum Kept : std::size_t { rows, columns, variance };

/// w of (adafactor.1).
template <class T>
T share(const Choice& optimizer, std::int64_t step) {
  if (step == 0) return T(1);
  return exp(T(-number<T>(optimizer.number("decay")) * log1p(T(step))));
}

/// rho of (adafactor.1).
template <class T>
T relative_rate(const T& rate, std::int64_t step) {
  return smaller(rate, T(1 / sqrt(T(step + 1))));
}

template <class T>
T root_mean_square(const Matrix<T>& x) {
  T sum = 0;
  for (Eigen::Index i = 0; i < x.size(); ++i) sum += x.data()[i] * x.data()[i];
  return sqrt(T(sum / T(x.size())));
}

/// The means of the squares that this tensor of the state has, from those of all elements.
template <class T>
Matrix<T> means(std::size_t i, const Matrix<T>& squares, Eigen::Index matrices) {
  if (i == variance) return squares;
  if (i == rows) return squares.rowwise().sum() / T(squares.cols());
  const Eigen::Index of_one = squares.rows() / matrices;
  Matrix<T> result(matrices, squares.cols());
  for (Eigen::Index m = 0; m < matrices; ++m)
    result.row(m) = squares.middleRows(m * of_one, of_one).colwise().sum() / T(of_one);
  return result;
}

/// (adafactor.2), (adafactor.3) or (adafactor.4).
template <class T>
Matrix<T> moved(std::size_t i, const Choice& optimizer, std::int64_t step, const Matrix<T>& gradient,
                const Matrix<T>& old) {
  const Matrix<T> squares = gradient.cwiseProduct(gradient);
  const T w = share<T>(optimizer, step);
  return T(1 - w) * old + w * means(i, squares, old.rows());
}

/// (adafactor.5).
template <class T>
Matrix<T> product(const Matrix<T>& row, const Matrix<T>& column, const T& eps1) {
  const Eigen::Index of_one = row.rows() / column.rows();
  Matrix<T> result(row.rows(), column.cols());
  for (Eigen::Index m = 0; m < column.rows(); ++m) {
    const Matrix<T> own = row.middleRows(m * of_one, of_one);
    const T mean = larger(T(own.sum() / T(of_one)), eps1);
    result.middleRows(m * of_one, of_one) = own * column.row(m) / mean;
  }
  return result;
}

/// The parameter by (adafactor.7), from the new state.
template <class T>
Matrix<T> stepped(const Choice& optimizer, const T& rate, std::int64_t step, const Matrix<T>& gradient,
                  const std::vector<Matrix<T>>& state, const Matrix<T>& parameter) {
  const T eps1 = number<T>(optimizer.number("eps1")), eps2 = number<T>(optimizer.number("eps2"));
  const Matrix<T> v = state[variance].size() == 0 ? product(state[rows], state[columns], eps1) : state[variance];
  const T least = eps1 * eps1;
  const Matrix<T> u = gradient.binaryExpr(v, [&](const T& g, const T& x) -> T { return g / sqrt(larger(x, least)); });
  const T alpha = larger(eps2, root_mean_square(parameter)) * relative_rate(rate, step);
  const T divisor = larger(T(1), T(root_mean_square(u) / number<T>(optimizer.number("d"))));
  return parameter - T(alpha / divisor) * u;
}

template <class T>
Slot<T> adafactor(const Choice& optimizer, const T& rate, std::int64_t step, const Matrix<T>& gradient, Slot<T> slot) {
  for (std::size_t i = 0; i < slot.state.size(); ++i)
    if (slot.state[i].size() != 0) slot.state[i] = moved(i, optimizer, step, gradient, Matrix<T>(slot.state[i]));
  slot.parameter = stepped(optimizer, rate, step, gradient, slot.state, Matrix<T>(slot.parameter));
  return slot;
}

/// Along the last dimension, along the last but one, or of a vector.
std::optional<std::vector<std::int64_t>> shape_of(std::string_view state, const std::vector<std::int64_t>& parameter) {
  const std::size_t dimensions = parameter.size();
  if ((state == "variance") != (dimensions < 2)) return std::nullopt;
  std::vector<std::int64_t> shape = parameter;
  if (state == "row_var") shape[dimensions - 1] = 1;
  if (state == "col_var") shape[dimensions - 2] = 1;
  return shape;
}

const RegisterKind<WholeTensorStep> registered_shapes("adafactor", {shape_of});

const Contract contract{
    .kind = "adafactor",
    .options = {{.name = "decay", .type = OptionType::number, .standard = Decimal{"0.8"}, .range = {.at_least = "0"}},
                {.name = "eps1",  // 2^-23; above 2^-63, as its square is a normal number of fp32
                 .type = OptionType::number,
                 .standard = Decimal{"1.1920928955078125e-7"},
                 .range = {.above = "1.0842021724855045e-19"}},
                {.name = "eps2", .type = OptionType::number, .standard = Decimal{"1e-3"}, .range = {.at_least = "0"}},
                {.name = "d", .type = OptionType::number, .standard = Decimal{"1"}, .range = {.at_least = "1"}}},
    .state = {{.name = "row_var", .word = "row's second moment", .never_negative = true},
              {.name = "col_var", .word = "column's second moment", .never_negative = true},
              {.name = "variance", .word = "second moment", .never_negative = true}},
    .counts_steps = true,
    .definition =
        "u = g / sqrt(max(row col / mean(row), eps1²)); p <- p - max(eps2, RMS(p)) rho / max(1, RMS(u) / d) u"};

Bounded larger_of(Bounded a, Bounded b) {
  const double v = std::isfinite(a.v) && std::isfinite(b.v) ? std::max(a.v, b.v) : NAN;
  return {v, std::isfinite(v) ? std::max(a.e, b.e) : infinite};
}

/// x / y where no divisor is smaller than `least`, however far the interval of y reaches below it.
Bounded over(const Arithmetic& fp32, Bounded x, Bounded y, double least) {
  if (!decided(y) || y.v - y.e >= least) return fp32.div(x, y);
  const Bounded below = fp32.div(x, {y.v, y.v - least});
  // A larger divisor takes no more than all of the quotient.
  const double above = std::fabs(below.v) * std::min(1.0, y.e / y.v) + x.e / y.v;
  return {below.v, std::max(below.e, fp32.add({below.v, above}, {0, fp32.underflow()}).e)};
}

Bounded count(Eigen::Index n) {
  const auto exact = static_cast<double>(n);
  return {exact, std::fabs(static_cast<double>(static_cast<float>(n)) - exact)};
}

/// So many numbers, by the order of the kernel's sums.
template <class Of>
Bounded sum_over(const Arithmetic& fp32, const KernelClaim& claim, Eigen::Index n, Of&& of) {
  Addends terms = addends_of(claim);
  for (Eigen::Index i = 0; i < n; ++i) terms.add(shared(of(i)));
  return shared(sum_of(fp32, claim, terms));
}

Bounded square(const Arithmetic& fp32, Bounded x) { return fp32.mul(x, x); }

/// The mean of squares along a row or column; by a kernel that says nothing of itself perhaps of a norm's square.
template <class Of>
Bounded mean_of_squares(const Arithmetic& fp32, const KernelClaim& claim, Eigen::Index n, Of&& of) {
  const Bounded sum = sum_over(fp32, claim, n, [&](Eigen::Index i) { return square(fp32, of(i)); });
  return fp32.div(claim.variant.empty() ? wider(sum, square(fp32, fp32.sqrt(sum))) : sum, count(n));
}

/// How many roundings w carries that is derived in one format: the power's, and that of its exponent so often.
long double roundings_of_share(const StepSetting& at) {
  const auto decay = number<long double>(at.optimizer.number("decay"));
  return at.step == 0 ? 0 : decay * std::log1p(static_cast<long double>(at.step)) + 8;
}

Bounded held_share(const StepSetting& at) {
  const auto exact = share<long double>(at.optimizer, at.step);
  const long double roundings = roundings_of_share(at);
  const auto v = static_cast<double>(exact);
  return derived_constant(at.declared, exact, {v, v * gam(static_cast<double>(roundings), single(at.declared).u())},
                          exact * roundings * 0x1p-53L);
}

/// The rate as the kernel holds it, or 1 / sqrt(t+1).
Bounded held_relative_rate(const StepSetting& at, const Expected& rate) {
  const Arithmetic fp32 = single(at.declared);
  const auto t = static_cast<long double>(at.step + 1);
  const Bounded most = derived_constant(at.declared, 1 / std::sqrt(t), fp32.div({1, 0}, fp32.sqrt(count(at.step + 1))));
  const Bounded lr = bounded_scalar(at.declared, rate);
  return {std::min(lr.v, most.v), std::max(lr.e, most.e)};
}

/// (adafactor.5) of all elements.
BoundedMatrix bounded_product(const Declared& declared, const Expected& row, const Expected& column, Bounded eps1) {
  const Arithmetic fp32 = single(declared);
  const KernelClaim& claim = claim_of(declared, "adafactor");
  const Eigen::Index of_one = row.v.rows() / column.v.rows();
  BoundedMatrix v(row.v.rows(), column.v.cols());
  for (Eigen::Index m = 0; m < column.v.rows(); ++m) {
    const Eigen::Index first = m * of_one;
    const auto in_row = [&](Eigen::Index i) { return element(declared, row, first + i, 0); };
    const Bounded mean = larger_of(fp32.div(sum_over(fp32, claim, of_one, in_row), count(of_one)), eps1);
    for (Eigen::Index i = 0; i < of_one; ++i)
      for (Eigen::Index j = 0; j < v.cols(); ++j)
        v.set(first + i, j, over(fp32, fp32.mul(in_row(i), element(declared, column, m, j)), mean, eps1.v - eps1.e));
  }
  return v;
}

/// (adafactor.6) of all elements.
BoundedMatrix bounded_update(const StepSetting& at, const Expected& gradient, const std::vector<Expected>& state) {
  const Arithmetic fp32 = single(at.declared);
  const KernelClaim& claim = claim_of(at.declared, "adafactor");
  const Bounded eps1 = constant(at.optimizer.number("eps1"));
  const auto exact = number<long double>(at.optimizer.number("eps1"));
  const Bounded least = constant(exact * exact);
  BoundedMatrix u = state[variance].v.size() == 0 ? bounded_product(at.declared, state[rows], state[columns], eps1)
                                                  : BoundedMatrix(at.declared, state[variance]);
  for (Eigen::Index i = 0; i < u.rows(); ++i)
    for (Eigen::Index j = 0; j < u.cols(); ++j) {
      const Bounded v = larger_of(shared(u.at(i, j)), least);
      // As the root of what is above eps1², and eps1².
      const Bounded inverse = rstd_of(at.declared, {v.v - least.v, v.e}, least, claim.rsqrt || claim.variant.empty());
      u.set(i, j, fp32.mul(inverse, element(at.declared, gradient, i, j)));
    }
  return u;
}

/// The root of a mean of squares.
template <class Of>
Bounded bounded_rms(const Arithmetic& fp32, const KernelClaim& claim, Eigen::Index n, Of&& of) {
  const Bounded sum = sum_over(fp32, claim, n, [&](Eigen::Index i) { return square(fp32, of(i)); });
  return fp32.sqrt(fp32.div(sum, count(n)));
}

/// alpha / max(1, RMS(u) / d) of (adafactor.7).
Bounded length_of_step(const StepSetting& at, const Expected& rate, const Expected& parameter, const BoundedMatrix& u) {
  const Arithmetic fp32 = single(at.declared);
  const KernelClaim& claim = claim_of(at.declared, "adafactor");
  const Eigen::Index columns = std::max<Eigen::Index>(1, u.cols());
  const auto of_p = [&](Eigen::Index i) { return element(at.declared, parameter, i / columns, i % columns); };
  const auto of_u = [&](Eigen::Index i) { return u.at(i / columns, i % columns); };
  const Bounded rms_p = bounded_rms(fp32, claim, u.v.size(), of_p), rms_u = bounded_rms(fp32, claim, u.v.size(), of_u);
  const Bounded alpha = fp32.mul(larger_of(constant(at.optimizer.number("eps2")), rms_p), held_relative_rate(at, rate));
  return shared(over(fp32, alpha, larger_of({1, 0}, fp32.div(rms_u, constant(at.optimizer.number("d")))), 1));
}

class Adafactor final : public OptimizerRules {
 public:
  Expected state(std::size_t i, const StepSetting& at, const StepTensors<Expected>& t) const override {
    const Arithmetic fp32 = single(at.declared), master(at.declared, at.declared.master);
    const KernelClaim& claim = claim_of(at.declared, "adafactor");
    const Expected &old = t.before[i], &g = t.gradient;
    const Bounded w = held_share(at);
    const Eigen::Index of_one = g.v.rows() / std::max<Eigen::Index>(1, old.v.rows());
    BoundedMatrix bound(old.v.rows(), old.v.cols());
    for (Eigen::Index r = 0; r < bound.rows(); ++r)
      for (Eigen::Index c = 0; c < bound.cols(); ++c) {
        const auto along_row = [&](Eigen::Index j) { return element(at.declared, g, r, j); };
        const auto along_column = [&](Eigen::Index k) { return element(at.declared, g, r * of_one + k, c); };
        const Bounded mean = i == rows      ? mean_of_squares(fp32, claim, g.v.cols(), along_row)
                             : i == columns ? mean_of_squares(fp32, claim, of_one, along_column)
                                            : square(fp32, element(at.declared, g, r, c));
        bound.set(r, c, master.store(interpolated(fp32, element(at.declared, old, r, c), mean, w)));
      }
    return joined(
        at.declared, [&] { return moved<long double>(i, at.optimizer, at.step, g.v, old.v); }, std::move(bound));
  }

  Expected parameter(const StepSetting& at, const Expected& rate, const StepTensors<Expected>& t, bool) const override {
    const Arithmetic fp32 = single(at.declared), master(at.declared, at.declared.master);
    BoundedMatrix bound = bounded_update(at, t.gradient, t.after);
    const Bounded length = length_of_step(at, rate, t.parameter, bound);
    for (Eigen::Index i = 0; i < bound.rows(); ++i)
      for (Eigen::Index j = 0; j < bound.cols(); ++j)
        bound.set(i, j,
                  master.store(fp32.sub(element(at.declared, t.parameter, i, j), fp32.mul(length, bound.at(i, j)))));
    const auto exact = [&] {
      std::vector<Matrix<long double>> state;
      for (const Expected& each : t.after) state.push_back(each.v);
      return stepped<long double>(at.optimizer, rate.v(0, 0), at.step, t.gradient.v, state, t.parameter.v);
    };
    return joined(at.declared, exact, std::move(bound));
  }

  Prediction predicted_state(std::size_t i, const StepSetting& at, const StepTensors<Matrix<float>>& t) const override {
    const auto exact = share<long double>(at.optimizer, at.step);
    const HeldConstant w = held(at.declared, exact, exact * roundings_of_share(at) * 0x1p-53L);
    if (i != variance || !as_written(at.declared, "adafactor") || !w) return {};
    return of_each(t.gradient.rows(), t.gradient.cols(), [&](Eigen::Index k) {
      const float g = t.gradient.data()[k], old = t.before[i].data()[k];
      const float squared = g * g;
      const float distance = squared - old;
      if (*w < 0.5F) {
        const float step = *w * distance;
        return stored(at.declared.master, old + step);
      }
      const float rest = 1.0F - *w;
      const float back = rest * distance;
      return stored(at.declared.master, squared - back);
    });
  }
  Prediction predicted_parameter(const StepSetting&, float, const StepTensors<Matrix<float>>&) const override {
    return {};
  }
  bool is_linear() const override { return false; }
};

const Adafactor rules;
const Register<OptimizerDefinition> registered{
    {contract, []<class T>(Scalar<T>) -> ExactStep<T> { return adafactor<T>; }, &rules}};

}  // namespace
}  // namespace tally::oracle::adafactor_kind
