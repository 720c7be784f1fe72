// Adam with one thing done otherwise.
#include <cmath>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/graph/stage.hpp"
#include "properties/diagnosis/bug.hpp"

namespace tally::adam_otherwise_bug {
namespace {

/// What one parameter's step reads and what the tapped moments are.
struct AdamStep {
  double beta1, beta2, eps, rate, t;  // t: steps before this one
  Values parameter, gradient, exp_avg_before, exp_avg_sq_before, exp_avg, exp_avg_sq;

  double correction1() const { return 1 - std::pow(beta1, t + 1); }
  double correction2() const { return 1 - std::pow(beta2, t + 1); }
};

std::optional<AdamStep> step_of(const Evidence& evidence, const HeldTensor& held) {
  const Choice& adam = evidence.c.recipe.optimizer;
  if (adam.kind != kinds::adam || held.name.stage != StageName::optimizer) return std::nullopt;
  const int w = held.name.window;
  std::string p = held.name.tensor;
  for (const std::string prefix : {"exp_avg.", "exp_avg_sq."}) {
    if (p.starts_with(prefix)) p = p.substr(prefix.size());
  }
  const auto read = [&](const std::string& tensor) { return evidence.tap(w, -1, "optimizer", tensor); };
  const auto parameter = read("in." + p), gradient = read("in.d." + p), m = read("exp_avg." + p),
             v = read("exp_avg_sq." + p), m_before = read("in.exp_avg." + p), v_before = read("in.exp_avg_sq." + p);
  if (!parameter || !gradient || !m || !v || !m_before || !v_before) return std::nullopt;
  return AdamStep{adam.number("beta1").to_double(),
                  adam.number("beta2").to_double(),
                  adam.number("eps").to_double(),
                  evidence.scalar(w, "optimizer", "in.learning_rate", 0),
                  evidence.scalar(w, "optimizer", "in.step", 0),
                  *parameter,
                  *gradient,
                  *m_before,
                  *v_before,
                  *m,
                  *v};
}

/// The new value of element i.
struct Otherwise {
  std::string sentence, formula, of;  // of: "" the parameter, "exp_avg.", "exp_avg_sq."
  double (*left)(const AdamStep& s, std::size_t i);
};

double moved(const AdamStep& s, std::size_t i, double m, double root) {
  return s.parameter[i] - s.rate * m / (root + s.eps);
}
double corrected_m(const AdamStep& s, std::size_t i) { return s.exp_avg[i] / s.correction1(); }
double corrected_v(const AdamStep& s, std::size_t i) { return s.exp_avg_sq[i] / s.correction2(); }

const std::vector<Otherwise>& parameters_otherwise() {
  using S = AdamStep;
  using I = std::size_t;
  static const std::vector<Otherwise> all{
      {"the first moment is not bias-corrected", "p -= rate m / (√v̂ + eps)", "",
       [](const S& s, I i) { return moved(s, i, s.exp_avg[i], std::sqrt(corrected_v(s, i))); }},
      {"the second moment is not bias-corrected", "p -= rate m̂ / (√v + eps)", "",
       [](const S& s, I i) { return moved(s, i, corrected_m(s, i), std::sqrt(s.exp_avg_sq[i])); }},
      {"neither moment is bias-corrected", "p -= rate m / (√v + eps)", "",
       [](const S& s, I i) { return moved(s, i, s.exp_avg[i], std::sqrt(s.exp_avg_sq[i])); }},
      {"eps is inside the square root", "p -= rate m̂ / √(v̂ + eps)", "",
       [](const S& s, I i) {
         return s.parameter[i] - s.rate * corrected_m(s, i) / std::sqrt(corrected_v(s, i) + s.eps);
       }},
      {"eps is added before the bias correction", "p -= rate m̂ / ((√v + eps) / √c₂)", "",
       [](const S& s, I i) {
         return s.parameter[i] -
                s.rate * corrected_m(s, i) / ((std::sqrt(s.exp_avg_sq[i]) + s.eps) / std::sqrt(s.correction2()));
       }},
      {"the square root of the second moment is left out", "p -= rate m̂ / (v̂ + eps)", "",
       [](const S& s, I i) { return moved(s, i, corrected_m(s, i), corrected_v(s, i)); }},
      {"the square root of the second moment's bias correction is left out", "p -= rate m̂ / (√v / c₂ + eps)", "",
       [](const S& s, I i) { return moved(s, i, corrected_m(s, i), std::sqrt(s.exp_avg_sq[i]) / s.correction2()); }},
      {"the step is not divided by the second moment", "p -= rate m̂", "",
       [](const S& s, I i) { return s.parameter[i] - s.rate * corrected_m(s, i); }},
      {"the step uses the gradient, not the first moment", "p -= rate g / (√v̂ + eps)", "",
       [](const S& s, I i) { return moved(s, i, s.gradient[i], std::sqrt(corrected_v(s, i))); }},
      {"the step uses the first moment of the step before", "p -= rate m_old / (c₁ (√v̂ + eps))", "",
       [](const S& s, I i) {
         return moved(s, i, s.exp_avg_before[i] / s.correction1(), std::sqrt(corrected_v(s, i)));
       }},
      {"the step uses the second moment of the step before", "p -= rate m̂ / (√(v_old / c₂) + eps)", "",
       [](const S& s, I i) {
         return moved(s, i, corrected_m(s, i), std::sqrt(s.exp_avg_sq_before[i] / s.correction2()));
       }},
      {"the step has the wrong sign", "p += rate m̂ / (√v̂ + eps)", "",
       [](const S& s, I i) {
         return 2 * s.parameter[i] - moved(s, i, corrected_m(s, i), std::sqrt(corrected_v(s, i)));
       }},
      {"the learning rate is left out", "p -= m̂ / (√v̂ + eps)", "",
       [](const S& s, I i) { return s.parameter[i] - corrected_m(s, i) / (std::sqrt(corrected_v(s, i)) + s.eps); }},
      {"both corrections use beta1", "c₂ = 1 - beta1^t", "",
       [](const S& s, I i) { return moved(s, i, corrected_m(s, i), std::sqrt(s.exp_avg_sq[i] / s.correction1())); }},
      {"both corrections use beta2", "c₁ = 1 - beta2^t", "",
       [](const S& s, I i) { return moved(s, i, s.exp_avg[i] / s.correction2(), std::sqrt(corrected_v(s, i))); }},
      {"the corrections use beta itself, not its power", "c = 1 - beta", "", [](const S& s, I i) {
         return moved(s, i, s.exp_avg[i] / (1 - s.beta1), std::sqrt(s.exp_avg_sq[i] / (1 - s.beta2)));
       }}};
  return all;
}

const std::vector<Otherwise>& moments_otherwise() {
  using S = AdamStep;
  using I = std::size_t;
  static const std::vector<Otherwise> all{
      {"the gradient enters the first moment without the factor 1 - beta1", "m = beta1 m + g", "exp_avg.",
       [](const S& s, I i) { return s.beta1 * s.exp_avg_before[i] + s.gradient[i]; }},
      {"the first moment is not multiplied by beta1", "m = m + (1 - beta1) g", "exp_avg.",
       [](const S& s, I i) { return s.exp_avg_before[i] + (1 - s.beta1) * s.gradient[i]; }},
      {"beta1 and 1 - beta1 are swapped", "m = (1 - beta1) m + beta1 g", "exp_avg.",
       [](const S& s, I i) { return (1 - s.beta1) * s.exp_avg_before[i] + s.beta1 * s.gradient[i]; }},
      {"the first moment is the gradient", "m = (1 - beta1) g", "exp_avg.",
       [](const S& s, I i) { return (1 - s.beta1) * s.gradient[i]; }},
      {"the second moment averages the gradient, not its square", "v = beta2 v + (1 - beta2) g", "exp_avg_sq.",
       [](const S& s, I i) { return s.beta2 * s.exp_avg_sq_before[i] + (1 - s.beta2) * s.gradient[i]; }},
      {"the second moment averages the absolute gradient, not its square", "v = beta2 v + (1 - beta2) |g|",
       "exp_avg_sq.",
       [](const S& s, I i) { return s.beta2 * s.exp_avg_sq_before[i] + (1 - s.beta2) * std::fabs(s.gradient[i]); }},
      {"the squared gradient enters the second moment without the factor 1 - beta2", "v = beta2 v + g²", "exp_avg_sq.",
       [](const S& s, I i) { return s.beta2 * s.exp_avg_sq_before[i] + s.gradient[i] * s.gradient[i]; }},
      {"the second moment is not multiplied by beta2", "v = v + (1 - beta2) g²", "exp_avg_sq.",
       [](const S& s, I i) { return s.exp_avg_sq_before[i] + (1 - s.beta2) * s.gradient[i] * s.gradient[i]; }},
      {"beta2 and 1 - beta2 are swapped", "v = (1 - beta2) v + beta2 g²", "exp_avg_sq.",
       [](const S& s, I i) {
         return (1 - s.beta2) * s.exp_avg_sq_before[i] + s.beta2 * s.gradient[i] * s.gradient[i];
       }},
      {"1 - beta2 is squared with the gradient", "v = beta2 v + ((1 - beta2) g)²", "exp_avg_sq.",
       [](const S& s, I i) { return s.beta2 * s.exp_avg_sq_before[i] + std::pow((1 - s.beta2) * s.gradient[i], 2); }},
      {"the second moment averages the square of the first moment", "v = beta2 v + (1 - beta2) m²", "exp_avg_sq.",
       [](const S& s, I i) { return s.beta2 * s.exp_avg_sq_before[i] + (1 - s.beta2) * s.exp_avg[i] * s.exp_avg[i]; }}};
  return all;
}

std::vector<Hypothesis> ways(const Evidence& evidence) {
  std::vector<std::optional<AdamStep>> steps;
  for (const HeldTensor& held : evidence.held) steps.push_back(step_of(evidence, held));
  std::vector<Hypothesis> all;
  const auto add = [&](const Otherwise& other) {
    Hypothesis way{{}, other.sentence, other.formula, 0};
    for (std::size_t t = 0; t < steps.size(); ++t) {
      const std::string& tensor = evidence.held[t].name.tensor;
      const bool moment = tensor.starts_with("exp_avg");
      const bool its_own = other.of.empty() ? !moment && !tensor.starts_with("in.") : tensor.starts_with(other.of);
      std::optional<Values> left;
      if (steps[t] && its_own) {
        left = Values(evidence.held[t].got.size());
        for (std::size_t i = 0; i < left->size(); ++i) (*left)[i] = other.left(*steps[t], i);
      }
      way.left.push_back(std::move(left));
    }
    all.push_back(std::move(way));
  };
  for (const Otherwise& other : parameters_otherwise()) add(other);
  for (const Otherwise& other : moments_otherwise()) add(other);
  return all;
}

const RegisterBug registered{{
    .name = "adam-otherwise",
    .stages = {"optimizer"},
    .sentence = "a term of Adam's formula is missing, misplaced or wrong",
    .formula = "p -= rate m̂ / (√v̂ + eps), with one thing done otherwise",
    .remedy = "correct that term of the step, or use `torch.optim.Adam` or `torch.optim.AdamW`",
    .hypotheses = ways,
}};

// The moments are taken as they are.
const RegisterBug registered_no_correction{{
    .name = "bias-correction-left-out",
    .sentence = "the moments are not bias-corrected",
    .formula = "m̂ = m, v̂ = v",
    .remedy = "divide the moments by 1 - beta^t, as `torch.optim.Adam` does",
    .restated = [](const Case& c, const Trace&) -> std::vector<Restated> {
      if (!counts_steps(c.recipe.optimizer)) return {};
      Restated way;
      way.deviation.leaves_corrections_out = true;
      return {way};
    },
}};

}  // namespace
}  // namespace tally::adam_otherwise_bug
