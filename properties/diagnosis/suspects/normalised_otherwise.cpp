// Batch norm or layer norm with one thing done otherwise.
#include <cmath>

#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/normalised.hpp"

namespace tally::normalised_otherwise_suspect {
namespace {

NormalisedAs with(const std::string& sentence, const std::string& formula, void (*change)(NormalisedAs&)) {
  NormalisedAs as;
  as.sentence = sentence;
  as.formula = formula;
  change(as);
  return as;
}

std::vector<NormalisedAs> statistics_otherwise() {
  using As = NormalisedAs;
  return {
      with("the mean divides by n - 1", "mean = Σ x / (n - 1)", [](As& a) { a.count_less = 1; }),
      with("the mean divides by n + 1", "mean = Σ x / (n + 1)", [](As& a) { a.count_less = -1; }),
      with("the variance is the unbiased one", "var = Σ (x - mean)² / (n - 1)",
           [](As& a) { a.variance_count_less = 1; }),
      with("the variance divides by n + 1", "var = Σ (x - mean)² / (n + 1)", [](As& a) { a.variance_count_less = -1; }),
      with("the variance is taken about zero", "var = Σ x² / n", [](As& a) { a.centred_variance = false; }),
      with("the mean is not subtracted", "x̂ = x rstd", [](As& a) { a.keeps_mean = true; }),
      with("eps is added to the root, not under it", "rstd = 1 / (√var + eps)",
           [](As& a) { a.rstd = [](double v, double eps) { return 1 / (std::sqrt(v) + eps); }; }),
      with("eps is left out", "rstd = 1 / √var",
           [](As& a) { a.rstd = [](double v, double) { return 1 / std::sqrt(v); }; }),
      with("eps is squared", "rstd = 1 / √(var + eps²)",
           [](As& a) { a.rstd = [](double v, double eps) { return 1 / std::sqrt(v + eps * eps); }; }),
      with("eps is subtracted", "rstd = 1 / √(var - eps)",
           [](As& a) { a.rstd = [](double v, double eps) { return 1 / std::sqrt(v - eps); }; }),
      with("the larger of variance and eps is taken", "rstd = 1 / √max(var, eps)",
           [](As& a) { a.rstd = [](double v, double eps) { return 1 / std::sqrt(std::fmax(v, eps)); }; }),
      with("the variance is not rooted", "rstd = 1 / (var + eps)",
           [](As& a) { a.rstd = [](double v, double eps) { return 1 / (v + eps); }; }),
      with("it multiplies by the deviation, not by its inverse", "rstd = √(var + eps)",
           [](As& a) { a.rstd = [](double v, double eps) { return std::sqrt(v + eps); }; }),
      with("nothing is divided by the deviation", "rstd = 1",
           [](As& a) { a.rstd = [](double, double) { return 1.0; }; })};
}

std::vector<NormalisedAs> gradients_otherwise() {
  using As = NormalisedAs;
  return {with("the mean of the gradient is not subtracted", "dx = rstd (g - x̂ mean(g x̂))", [](As& a) { a.a = 0; }),
          with("the gradient through the variance is left out", "dx = rstd (g - mean(g))", [](As& a) { a.b = 0; }),
          with("the statistics are held for constants", "dx = rstd g", [](As& a) { a.a = a.b = 0; }),
          with("the mean of the gradient is added", "dx = rstd (g + mean(g) - x̂ mean(g x̂))", [](As& a) { a.a = -1; }),
          with("the gradient through the variance has the other sign", "dx = rstd (g - mean(g) + x̂ mean(g x̂))",
               [](As& a) { a.b = -1; }),
          with("the gradient through the variance is taken twice", "dx = rstd (g - mean(g) - 2 x̂ mean(g x̂))",
               [](As& a) { a.b = 2; }),
          with("the mean of the gradient is subtracted twice", "dx = rstd (g - 2 mean(g) - x̂ mean(g x̂))",
               [](As& a) { a.a = 2; }),
          with("the gradient through the variance is halved", "dx = rstd (g - mean(g) - x̂ mean(g x̂) / 2)",
               [](As& a) { a.b = 0.5; }),
          with("sums are taken for means", "dx = rstd (g - Σ g - x̂ Σ g x̂)", [](As& a) { a.sum_for_mean = 1; }),
          with("the weight is left out", "g = dy", [](As& a) { a.weighted = false; }),
          with("nothing is divided by the deviation", "dx = g - mean(g) - x̂ mean(g x̂)",
               [](As& a) { a.powers_of_rstd = 0; }),
          with("it is divided by the deviation twice", "dx = rstd² (g - mean(g) - x̂ mean(g x̂))",
               [](As& a) { a.powers_of_rstd = 2; }),
          with("the weight's gradient takes x for x̂", "dγ = Σ dy x", [](As& a) { a.raw_x = true; }),
          with("the weight's gradient is not divided by the deviation", "dγ = Σ dy (x - mean)",
               [](As& a) { a.centred_x = true; })};
}

std::vector<Hypothesis> ways(const Evidence& evidence) {
  std::vector<NormalisedAs> otherwise = statistics_otherwise();
  for (NormalisedAs& as : gradients_otherwise()) otherwise.push_back(std::move(as));
  std::vector<Hypothesis> all;
  for (const NormalisedAs& as : otherwise) {
    Hypothesis way{{}, as.sentence, as.formula, 0};
    for (const HeldTensor& held : evidence.held) way.left.push_back(normalised(evidence, held, as));
    all.push_back(std::move(way));
  }
  return all;
}

const RegisterSuspect registered{{
    .name = "normalised-otherwise",
    .faults = {},
    .stages = {"forward", "backward"},
    .sentence = "a term of the normalisation is missing, misplaced or counts otherwise",
    .formula = "y = γ (x - mean) rstd + β, or its gradient, with one thing done otherwise",
    .remedy = "correct that term, or call `F.layer_norm`, `F.rms_norm` or `F.batch_norm` in its place",
    .ways = ways,
}};

}  // namespace
}  // namespace tally::normalised_otherwise_suspect
