// Every rule with one source of error switched off at a time.
#include <functional>

#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/rule.hpp"
#include "oracle/window/bound_stages.hpp"
#include "tests/oracle/layers/layer_variants.hpp"
#include "tests/oracle/tolerance/emulation.hpp"
#include "tests/oracle/window/small_case.hpp"

namespace tally::oracle::sources_test {
namespace {

using Outputs = std::map<std::string, Matrix<double>>;  // bounds by output

/// How a rule is called: the subject's format, and what its inputs carry, relative to them.
struct Setting {
  Dtype storage = Dtype::fp32;
  double carried = 0;
  Asked asked = {};
};
using Rule = std::function<Outputs(const Setting&)>;

Expected input(const Matrix<double>& v, const Setting& setting) {
  return {v.cast<long double>(), setting.carried * v.cwiseAbs()};
}

Precision precision_of(const Setting& setting) {
  Precision precision;
  precision.storage = precision.accumulate = precision.master = setting.storage;
  return precision;
}

Outputs bounds_of_layer(const LayerVariant& variant, const Setting& setting) {
  const Claims claims;
  const Precision precision = precision_of(setting);
  const Declared subject = with(declared(precision, claims), setting.asked);
  ExpectedTensors tensors;
  for (const auto& [name, v] : variant.tensors)
    tensors[name] = input(v, {setting.storage, name == "mask" ? 0 : setting.carried});
  const BoundPass pass{variant.layer, tensors, variant.cut, subject, {}};
  const Expected x = input(variant.x, setting), dy = input(variant.dy, setting);
  const auto forward = bound_rule(variant.layer.kind).forward(pass, x);
  auto backward = bound_rule(variant.layer.kind).backward(pass, x, dy);
  Outputs all{{"y", forward.y.e},
              {"mean", forward.mean.e},
              {"var", forward.var.e},
              {"rstd", forward.rstd.e},
              {"dx", backward.dx.e}};
  for (const auto& [name, gradient] : backward.parameters) all["d." + name] = gradient.e;
  return all;
}

Outputs bounds_of_loss(const Choice& loss, bool classes, const Setting& setting) {
  const Claims claims;
  const Precision precision = precision_of(setting);
  Matrix<long double> target = drawn(4, 5, 3).cast<long double>(), weight(1, 4);
  if (classes) target = (Matrix<long double>(1, 4) << 0, 4, 2, 1).finished();
  weight << 1, 2, 1, 1;
  const auto expected = loss_bound_rule(loss.kind).evaluate(loss, with(declared(precision, claims), setting.asked),
                                                            input(drawn(4, 5, 1), setting), target, weight,
                                                            input(drawn(1, 4, 2), setting));
  return {{"loss", expected.loss.e}, {"dy", expected.dy.e}};
}

std::map<std::string, Rule> stages() {
  static const Claims claims;
  static const Case small = small_case({{2, 3}}, "micro_batch");
  // Multiples of 3: a power of two would multiply without rounding, but only while it carries nothing.
  const auto g = [](const Setting& s) { return input(3 * drawn(3, 4, 1), s); };
  const auto p = [](const Setting& s) { return input(3 * drawn(3, 4, 2), s); };
  const auto positive = [](const Setting& s) { return input(3 * drawn(3, 4, 3).cwiseAbs(), s); };
  const auto one = [](double v, const Setting& s) { return input(Matrix<double>::Constant(1, 1, v), s); };
  const auto subject = [](const Setting& s) { return with(declared(precision_of(s), claims), s.asked); };
  const Choice norm2{"global_norm",
                     {{"max_norm", Decimal{"0.7"}}, {"norm", std::string("2")}, {"epsilon", Decimal{"1e-6"}}}};
  Choice norm1 = norm2;
  norm1.options["norm"] = std::string("1");
  const Choice value{"value", {{"max_value", Decimal{"0.5"}}}};
  const Choice nesterov{"sgd", {{"momentum", Decimal{"0.9"}}, {"dampening", Decimal{"0.1"}}, {"nesterov", true}}};
  const Choice adam{"adam", {{"beta1", Decimal{"0.9"}}, {"beta2", Decimal{"0.999"}}, {"eps", Decimal{"1e-8"}}}};
  const Choice l2{"l2", {{"lambda", Decimal{"0.1"}}}}, decoupled{"decoupled", {{"lambda", Decimal{"0.1"}}}};
  const Layer norm = small.model.layers[1];
  const auto rule = [](auto evaluate) -> Rule {
    return [=](const Setting& s) { return Outputs{{"", evaluate(s).e}}; };
  };
  return {
      {"cast", rule([=](const Setting& s) { return cast(subject(s), format_of(s.storage), p(s)); })},
      {"accumulated", rule([=](const Setting& s) { return accumulated(subject(s), p(s), g(s)); })},
      {"scaled", rule([=](const Setting& s) { return scaled(subject(s), g(s), one(0.3, s)); })},
      {"factor", rule([=](const Setting& s) { return factor(subject(s), small, 0, 0, one(3, s)); })},
      {"inverse_scale", rule([=](const Setting& s) { return inverse_scale(subject(s), small, 0, one(3, s)); })},
      {"two-norm", rule([=](const Setting& s) {
         return oracle::norm(subject(s), norm2, {{"g", g(s)}});
       })},
      {"one-norm", rule([=](const Setting& s) {
         return oracle::norm(subject(s), norm1, {{"g", g(s)}});
       })},
      {"coefficient", rule([=](const Setting& s) { return coefficient(subject(s), norm2, one(3, s), 0); })},
      {"clipped by norm", rule([=](const Setting& s) { return clipped(subject(s), norm2, one(0.3, s), g(s)); })},
      {"clipped by value", rule([=](const Setting& s) { return clipped(subject(s), value, {}, g(s)); })},
      {"l2", rule([=](const Setting& s) { return decayed(subject(s), l2, 0.1L, g(s), p(s)); })},
      {"decoupled", rule([=](const Setting& s) { return decayed(subject(s), decoupled, 0.1L, g(s), p(s)); })},
      {"running_mean", rule([=](const Setting& s) { return running_mean(subject(s), norm, p(s), g(s)); })},
      {"running_var",
       rule([=](const Setting& s) { return running_var(subject(s), norm, positive(s), positive(s), 5); })},
      {"sgd_momentum", rule([=](const Setting& s) { return sgd_momentum(subject(s), nesterov, g(s), p(s)); })},
      {"sgd_parameter",
       rule([=](const Setting& s) { return sgd_parameter(subject(s), nesterov, one(0.1, s), g(s), {}, p(s)); })},
      {"nesterov", rule([=](const Setting& s) {
         return sgd_parameter(subject(s), nesterov, one(0.1, s), g(s), positive(s), p(s));
       })},
      {"exp_avg", rule([=](const Setting& s) { return adam_exp_avg(subject(s), adam, g(s), p(s)); })},
      {"exp_avg_sq", rule([=](const Setting& s) { return adam_exp_avg_sq(subject(s), adam, g(s), positive(s)); })},
      {"adam_parameter", rule([=](const Setting& s) {
         return adam_parameter(subject(s), adam, 0.1L, 2, g(s), positive(s), p(s), true);
       })},
  };
}

std::map<std::string, Rule> every_rule() {
  std::map<std::string, Rule> rules = stages();
  for (const LayerVariant& variant : layer_variants()) {
    rules[variant.name] = [variant](const Setting& setting) { return bounds_of_layer(variant, setting); };
  }
  const std::vector<Decimal> weights{{"0.5"}, {"1.3"}, {"2"}, {"1"}, {"0.3"}};
  const Choice plain{
      "cross_entropy",
      {{"ignore_index", std::int64_t{-100}}, {"label_smoothing", Decimal{"0"}}, {"weight", std::vector<Decimal>{}}}};
  Choice smooth = plain;
  smooth.options["label_smoothing"] = Decimal{"0.1"};
  smooth.options["weight"] = weights;
  rules["cross_entropy"] = [=](const Setting& setting) { return bounds_of_loss(plain, true, setting); };
  rules["cross_entropy_smoothed"] = [=](const Setting& setting) { return bounds_of_loss(smooth, true, setting); };
  rules["mse"] = [](const Setting& setting) { return bounds_of_loss({"mse", {}}, false, setting); };
  return rules;
}

const Setting settings[] = {{Dtype::fp32, 0}, {Dtype::fp16, 0}, {Dtype::fp32, 0x1p-12}, {Dtype::bf16, 0x1p-12}};

Outputs at(const Rule& rule, const Setting& setting, const Sources& shares) {
  Setting shared = setting;
  shared.asked.sources = shares;
  return rule(shared);
}

/// With no share of a store quite 1, every store counts its half ulp: where it is known which number is stored, the
/// bound is that number's distance, which is no sum of terms.
Sources all_at(double share) { return {share, share, std::min(share, std::nextafter(1.0, 0.0)), share}; }

constexpr double Sources::*each_source[] = {&Sources::input, &Sources::accumulation, &Sources::storage,
                                            &Sources::function};

/// The terms of every bound with the sources at a share of themselves, and what is left over between them and the bound
/// above `constants`.
struct Split {
  Outputs bound, left;
  std::array<Outputs, 4> term;
};

Split split(const Rule& rule, const Setting& setting, double share, const Outputs& constants) {
  Split result;
  result.bound = at(rule, setting, all_at(share));
  for (const auto& [name, bound] : result.bound) result.left[name] = bound - constants.at(name);
  for (std::size_t k = 0; k < 4; ++k) {
    Sources without = all_at(share);
    without.*each_source[k] = 0;
    for (const auto& [name, bound] : at(rule, setting, without)) {
      result.term[k][name] = result.bound.at(name) - bound;
      result.left[name] -= result.term[k].at(name);
    }
  }
  return result;
}

/// Runs `hold(rule name, output name, setting)` over everything.
template <class F>
void for_every_rule(F&& hold) {
  for (const auto& [name, rule] : every_rule()) {
    for (const Setting& setting : settings) {
      SCOPED_TRACE(name + " in " + std::string(name_of(setting.storage)) + (setting.carried > 0 ? ", carried" : ""));
      hold(name, rule, setting);
    }
  }
}

TEST(Sources, LeaveTheDistanceOfConstantsAloneWhenAllAreOff) {
  const std::set<std::string> without_constants{
      "linear",   "linear_without_bias", "relu",         "tanh", "sigmoid", "cast", "accumulated", "scaled", "two-norm",
      "one-norm", "clipped by norm",     "cross_entropy"};
  for_every_rule([&](const std::string& name, const Rule& rule, const Setting& setting) {
    const Outputs reference = at(rule, {Dtype::fp32, 0}, all_at(0));
    const Outputs found = at(rule, setting, all_at(0));
    EXPECT_FALSE(found.empty());
    for (const auto& [output, e] : found) {
      const Matrix<double>& least = reference.at(output);  // a store inflates what it passes on
      EXPECT_TRUE((least.array() <= e.array()).all() && (e.array() <= inflation * least.array()).all()) << output;
      if (without_constants.contains(name)) {
        EXPECT_TRUE((e.array() == 0).all()) << output << "\n" << e;
      }
    }
  });
}

/// Half of every source leaves a quarter of what is of second order, and a half of what is not: what a switch forgot.
TEST(Sources, AddUpToTheBoundUpToTheSecondOrder) {
  constexpr double between = (1.0 / 4 + 1.0 / 2) / 2;
  for_every_rule([&](const std::string&, const Rule& rule, const Setting& setting) {
    const Outputs constants = at(rule, setting, all_at(0));
    const Split whole = split(rule, setting, 1, constants), half = split(rule, setting, 0.5, constants);
    EXPECT_FALSE(whole.left.empty());
    for (const auto& [output, left] : whole.left) {
      const Matrix<double> noise = (inflation - 1) * whole.bound.at(output);
      const Matrix<double> most = between * left.cwiseAbs() + noise;
      EXPECT_TRUE((half.left.at(output).cwiseAbs().array() <= most.array()).all())
          << output << "\nleft\n"
          << left << "\nof half\n"
          << half.left.at(output) << "\nbound\n"
          << whole.bound.at(output);
    }
  });
}

TEST(Sources, AreTheOnesOfTheirRule) {
  // Statistics of an undeclared algorithm may take 1 / sqrt from a function.
  const std::set<std::string> with_functions{"tanh",
                                             "sigmoid",
                                             "gelu_erf",
                                             "gelu_tanh",
                                             "cross_entropy",
                                             "cross_entropy_smoothed",
                                             "layer_norm",
                                             "layer_norm_plain",
                                             "batch_norm_window",
                                             "batch_norm_plain",
                                             "batch_norm_micro_batch"};
  std::set<std::string> later;
  for (const LayerVariant& variant : layer_variants())
    if (variant.came_later) later.insert(variant.name);
  for_every_rule([&](const std::string& name, const Rule& rule, const Setting& setting) {
    const Split terms = split(rule, setting, 1, at(rule, setting, all_at(0)));
    double sum[4] = {};
    for (std::size_t k = 0; k < 4; ++k) {
      for (const auto& [output, term] : terms.term[k]) {
        sum[k] += term.sum();
        EXPECT_TRUE((term.array() >= 0).all()) << output << " of source " << k << "\n" << term;
      }
    }
    EXPECT_EQ(sum[0] > 0, setting.carried > 0);
    if (setting.storage == Dtype::fp32) {
      EXPECT_EQ(sum[2], 0);
    }
    EXPECT_TRUE(later.contains(name) || (sum[3] > 0) == with_functions.contains(name)) << name;
  });
}

/// y = x W without bias in fp16: each term by its own formula.
TEST(Sources, OfAMatrixProductFollowTheirFormulas) {
  const auto variants = layer_variants();
  const auto linear = std::find_if(variants.begin(), variants.end(),
                                   [](const LayerVariant& v) { return v.name == "linear_without_bias"; });
  const Rule rule = [&](const Setting& setting) { return bounds_of_layer(*linear, setting); };
  const Setting setting{Dtype::fp16, 0x1p-12};
  const Split terms = split(rule, setting, 1, at(rule, setting, all_at(0)));
  const Matrix<double> x = linear->x, w = linear->tensors.at("weight").transpose(), y = x * w;
  const Matrix<double> sizes = x.cwiseAbs() * w.cwiseAbs();
  const double both = 2 * setting.carried + setting.carried * setting.carried;  // (1 + c)^2 - 1
  const double two_additions = gam(2, 0x1p-24), store = 0x1p-11;
  const auto holds = [](const Matrix<double>& least, const Matrix<double>& term, const Matrix<double>& most) {
    EXPECT_TRUE((least.array() <= term.array()).all()) << least << "\nabove\n" << term;
    EXPECT_TRUE((term.array() <= most.array()).all()) << term << "\nabove\n" << most;
  };
  // Above the formula a term may carry its products with the other two.
  const double more = (1 + both) * (1 + two_additions) * (1 + store) * pays * inflation * inflation;
  holds(both * sizes, terms.term[0].at("y"), both * more * sizes);
  holds(two_additions * sizes, terms.term[1].at("y"), two_additions * more * sizes);
  holds(store * y.cwiseAbs(), terms.term[2].at("y"),
        store * more * (y.cwiseAbs() + (both + two_additions) * more * sizes));
}

TEST(BoundsOnly, LeavesTheBoundsAsTheyAre) {
  for_every_rule([&](const std::string&, const Rule& rule, const Setting& setting) {
    const Outputs whole = rule(setting);
    Setting bounds = setting;
    bounds.asked.bounds_only = true;
    const Outputs found = rule(bounds);
    EXPECT_FALSE(found.empty());
    for (const auto& [output, e] : found) {
      EXPECT_TRUE(((e - whole.at(output)).array().abs() <= (inflation - 1) * e.array()).all()) << output;
    }
  });
}

}  // namespace
}  // namespace tally::oracle::sources_test
