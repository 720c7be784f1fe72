// Every term of Adam's step done otherwise, in the bits that one parameter's second step leaves: its suspect says so.
#include "properties/diagnosis/diagnose.hpp"
#include "properties/diagnosis/evidence.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::adam_otherwise_test {
namespace {

/// An element's step: what it reads, the new moments m and v, and the corrections 1 - beta^2 of the second step.
struct Step {
  double p, g, m_before, v_before, m, v, rate, eps, c1, c2;

  double by(double mean, double divisor) const { return p - rate * mean / divisor; }
};

constexpr double beta1 = 0.8, beta2 = 0.95;

const std::map<std::string, double (*)(const Step&)> parameters{
    {"the first moment is not bias-corrected", [](const Step& s) { return s.by(s.m, std::sqrt(s.v / s.c2) + s.eps); }},
    {"the second moment is not bias-corrected", [](const Step& s) { return s.by(s.m / s.c1, std::sqrt(s.v) + s.eps); }},
    {"neither moment is bias-corrected", [](const Step& s) { return s.by(s.m, std::sqrt(s.v) + s.eps); }},
    {"eps is inside the square root", [](const Step& s) { return s.by(s.m / s.c1, std::sqrt(s.v / s.c2 + s.eps)); }},
    {"eps is added before the bias correction",
     [](const Step& s) { return s.by(s.m / s.c1, (std::sqrt(s.v) + s.eps) / std::sqrt(s.c2)); }},
    {"the square root of the second moment is left out",
     [](const Step& s) { return s.by(s.m / s.c1, s.v / s.c2 + s.eps); }},
    {"the square root of the second moment's bias correction is left out",
     [](const Step& s) { return s.by(s.m / s.c1, std::sqrt(s.v) / s.c2 + s.eps); }},
    {"the step is not divided by the second moment", [](const Step& s) { return s.by(s.m / s.c1, 1); }},
    {"the step uses the gradient, not the first moment",
     [](const Step& s) { return s.by(s.g, std::sqrt(s.v / s.c2) + s.eps); }},
    {"the step uses the first moment of the step before",
     [](const Step& s) { return s.by(s.m_before / s.c1, std::sqrt(s.v / s.c2) + s.eps); }},
    {"the step uses the second moment of the step before",
     [](const Step& s) { return s.by(s.m / s.c1, std::sqrt(s.v_before / s.c2) + s.eps); }},
    {"the step has the wrong sign", [](const Step& s) { return s.by(-s.m / s.c1, std::sqrt(s.v / s.c2) + s.eps); }},
    {"the learning rate is left out",
     [](const Step& s) { return s.by(s.m / s.c1 / s.rate, std::sqrt(s.v / s.c2) + s.eps); }},
    {"both corrections use beta1", [](const Step& s) { return s.by(s.m / s.c1, std::sqrt(s.v / s.c1) + s.eps); }},
    {"both corrections use beta2", [](const Step& s) { return s.by(s.m / s.c2, std::sqrt(s.v / s.c2) + s.eps); }},
    {"the corrections use beta itself, not its power",
     [](const Step& s) { return s.by(s.m / (1 - beta1), std::sqrt(s.v / (1 - beta2)) + s.eps); }}};

const std::map<std::string, double (*)(const Step&)> first_moments{
    {"the gradient enters the first moment without the factor 1 - beta1",
     [](const Step& s) { return beta1 * s.m_before + s.g; }},
    {"the first moment is not multiplied by beta1", [](const Step& s) { return s.m_before + (1 - beta1) * s.g; }},
    {"beta1 and 1 - beta1 are swapped", [](const Step& s) { return (1 - beta1) * s.m_before + beta1 * s.g; }},
    {"the first moment is the gradient", [](const Step& s) { return (1 - beta1) * s.g; }}};

const std::map<std::string, double (*)(const Step&)> second_moments{
    {"the second moment averages the gradient, not its square",
     [](const Step& s) { return beta2 * s.v_before + (1 - beta2) * s.g; }},
    {"the second moment averages the absolute gradient",
     [](const Step& s) { return beta2 * s.v_before + (1 - beta2) * std::fabs(s.g); }},
    {"the squared gradient enters the second moment without the factor 1 - beta2",
     [](const Step& s) { return beta2 * s.v_before + s.g * s.g; }},
    {"the second moment is not multiplied by beta2",
     [](const Step& s) { return s.v_before + (1 - beta2) * s.g * s.g; }},
    {"beta2 and 1 - beta2 are swapped", [](const Step& s) { return (1 - beta2) * s.v_before + beta2 * s.g * s.g; }},
    {"1 - beta2 is squared with the gradient",
     [](const Step& s) { return beta2 * s.v_before + (1 - beta2) * (1 - beta2) * s.g * s.g; }},
    {"the second moment averages the square of the first moment",
     [](const Step& s) { return beta2 * s.v_before + (1 - beta2) * s.m * s.m; }}};

Case stepped_by_adam() {
  Case c = mlp(7);
  c.windows = {{16}, {16}};
  c.recipe.optimizer = choice_of(
      "optimizer", "adam", {{"beta1", Decimal{"0.8"}}, {"beta2", Decimal{"0.95"}}, {"eps", Decimal{"0.001953125"}}});
  c.recipe.learning_rate = choice_of("learning_rate", "constant", {{"base", Decimal{"0.125"}}});
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 7);
  return c;
}

void expect_named(const std::string& tensor, const std::map<std::string, double (*)(const Step&)>& others) {
  const Case c = stepped_by_adam();
  const Trace trace = run(c);
  const std::string p = "fc1.weight";
  const auto read = [&](const std::string& name, std::size_t i) {
    return trace.find("w1/optimizer/" + name + p)->value(i);
  };
  for (const auto& [said, left] : others) {
    const Trace wrong = altered(trace, [&, left = left](const Tap& tap) -> std::optional<Tensor> {
      if (tap.name.text() != "w1/optimizer/" + tensor + p) return std::nullopt;
      Tensor other = tap.value;
      for (std::size_t i = 0; i < other.elements(); ++i) {
        const Step s{read("in.", i),
                     read("in.d.", i),
                     read("in.exp_avg.", i),
                     read("in.exp_avg_sq.", i),
                     read("exp_avg.", i),
                     read("exp_avg_sq.", i),
                     0.125,
                     0.001953125,
                     1 - beta1 * beta1,
                     1 - beta2 * beta2};
        other.set(i, left(s));
      }
      return other;
    });
    const std::vector<Suspicion> suspects = diagnose(c, wrong, local_lens(c, wrong));
    EXPECT_TRUE(std::ranges::any_of(
        suspects,
        [&](const Suspicion& s) { return s.name == "adam-otherwise" && s.sentence.find(said) != std::string::npos; }))
        << said << ", not " << (suspects.empty() ? "none" : suspects.front().name + ": " + suspects.front().sentence);
  }
}

TEST(AdamOtherwise, NamesWhatIsWrongWithAParametersStep) { expect_named("", parameters); }

TEST(AdamOtherwise, NamesWhatIsWrongWithAMoment) {
  expect_named("exp_avg.", first_moments);
  expect_named("exp_avg_sq.", second_moments);
}

}  // namespace
}  // namespace tally::adam_otherwise_test
