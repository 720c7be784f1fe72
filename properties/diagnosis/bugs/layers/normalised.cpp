// Batch norm and layer norm in binary64, with one thing done otherwise, and the suspects made of them.
#include <cmath>

#include "oracle/case/kinds.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/diagnosis/bugs/layers/layer_bugs.hpp"

namespace tally {
namespace {

struct Layered {
  Values x, dy, weight, bias;
  std::size_t rows = 0, columns = 0;
  bool by_row = false;  // layer_norm
  double eps = 0;
  std::string output;  // "y", "mean", "d.x", "d.weight"
};

std::optional<Layered> layer_of(const Evidence& evidence, const HeldTensor& held) {
  const Case& c = evidence.c;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i) {
    const Layer& layer = c.model.layers[i];
    const bool by_row = layer.kind == kinds::layer_norm;
    const bool own_statistics = layer.kind == kinds::batch_norm && layer.text("statistics") == "micro_batch";
    const std::string label = label_of(c.model, i) + ".", gradient = "d." + label;
    const bool is_gradient = held.name.tensor.starts_with(gradient);
    if ((!by_row && !own_statistics) || (!is_gradient && !held.name.tensor.starts_with(label))) continue;
    const auto read = [&](const std::string& tensor) {
      return evidence.tap(held.name.window, held.name.micro_batch, held.name.stage, "in." + tensor).value_or(Values{});
    };
    Layered found;
    found.x = read(label + "x"), found.dy = read(gradient + "y");
    found.weight = read(label + "weight"), found.bias = read(label + "bias");
    found.columns = static_cast<std::size_t>(features_before(c.model, i));
    found.rows = found.x.size() / found.columns;
    found.by_row = by_row;
    found.eps = layer.number("eps").to_double();
    found.output =
        is_gradient ? "d." + held.name.tensor.substr(gradient.size()) : held.name.tensor.substr(label.size());
    if (found.rows == 0 || (is_gradient && found.dy.size() != found.x.size())) return std::nullopt;
    return found;
  }
  return std::nullopt;
}

class Normaliser {
 public:
  Normaliser(const Layered& layer, const NormalisedAs& as)
      : l_(layer), as_(as), groups_(l_.by_row ? l_.rows : l_.columns), n_(double(l_.x.size() / groups_)) {
    statistics();
  }

  std::optional<Values> output() const {
    if (l_.output == "mean") return mean_;
    if (l_.output == "var") return var_;
    if (l_.output == "rstd") return rstd_;
    if (l_.output == "y") return y();
    if (l_.output == "d.x") return dx();
    if (l_.output == "d.weight" || l_.output == "d.bias") return parameter(l_.output == "d.weight");
    return std::nullopt;
  }

 private:
  std::size_t group(std::size_t i) const { return l_.by_row ? i / l_.columns : i % l_.columns; }
  double centred(std::size_t i) const { return l_.x[i] - (as_.keeps_mean ? 0 : mean_[group(i)]); }
  double hat(std::size_t i) const { return centred(i) * rstd_[group(i)]; }
  double weight(std::size_t i) const { return l_.weight.empty() ? 1 : l_.weight[i % l_.columns]; }
  double g(std::size_t i) const { return l_.dy[i] * (as_.weighted ? weight(i) : 1); }

  void statistics() {
    mean_.assign(groups_, 0), var_.assign(groups_, 0), rstd_.assign(groups_, 0);
    for (std::size_t i = 0; i < l_.x.size(); ++i) mean_[group(i)] += l_.x[i] / (n_ - as_.count_less);
    for (std::size_t i = 0; i < l_.x.size(); ++i) {
      const double off = l_.x[i] - (as_.centred_variance ? mean_[group(i)] : 0);
      var_[group(i)] += off * off / (n_ - as_.variance_count_less);
    }
    for (std::size_t k = 0; k < groups_; ++k) {
      rstd_[k] = as_.rstd != nullptr ? as_.rstd(var_[k], l_.eps) : 1 / std::sqrt(var_[k] + l_.eps);
    }
  }

  Values y() const {
    Values all(l_.x.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = hat(i) * (as_.weighted ? weight(i) : 1) + (l_.bias.empty() ? 0 : l_.bias[i % l_.columns]);
    }
    return all;
  }

  Values dx() const {
    Values mean_g(groups_, 0), mean_gx(groups_, 0), all(l_.x.size());
    const double divisor = as_.sum_for_mean != 0 ? 1 : n_;
    for (std::size_t i = 0; i < all.size(); ++i) {
      mean_g[group(i)] += g(i) / divisor, mean_gx[group(i)] += g(i) * hat(i) / divisor;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t k = group(i);
      all[i] = std::pow(rstd_[k], as_.powers_of_rstd) * (g(i) - as_.a * mean_g[k] - as_.b * hat(i) * mean_gx[k]);
    }
    return all;
  }

  Values parameter(bool of_weight) const {
    Values all(l_.columns, 0);
    for (std::size_t i = 0; i < l_.x.size(); ++i) {
      const double by = !of_weight ? 1 : as_.raw_x ? l_.x[i] : as_.centred_x ? centred(i) : hat(i);
      all[i % l_.columns] += l_.dy[i] * by;
    }
    return all;
  }

  const Layered& l_;
  const NormalisedAs& as_;
  const std::size_t groups_;
  const double n_;
  Values mean_, var_, rstd_;
};

}  // namespace

std::optional<Values> normalised(const Evidence& evidence, const HeldTensor& held, const NormalisedAs& as) {
  const auto layer = layer_of(evidence, held);
  return layer ? Normaliser(*layer, as).output() : std::nullopt;
}

}  // namespace tally

// Batch norm or layer norm with one thing done otherwise.
namespace tally::normalised_otherwise_bug {
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
      with("the variance is taken about zero, not about the mean", "var = Σ x² / n",
           [](As& a) { a.centred_variance = false; }),
      with("the mean is not subtracted", "x̂ = x rstd", [](As& a) { a.keeps_mean = true; }),
      with("eps is added outside the square root", "rstd = 1 / (√var + eps)",
           [](As& a) { a.rstd = [](double v, double eps) { return 1 / (std::sqrt(v) + eps); }; }),
      with("eps is left out", "rstd = 1 / √var",
           [](As& a) { a.rstd = [](double v, double) { return 1 / std::sqrt(v); }; }),
      with("eps is squared", "rstd = 1 / √(var + eps²)",
           [](As& a) { a.rstd = [](double v, double eps) { return 1 / std::sqrt(v + eps * eps); }; }),
      with("eps is subtracted", "rstd = 1 / √(var - eps)",
           [](As& a) { a.rstd = [](double v, double eps) { return 1 / std::sqrt(v - eps); }; }),
      with("the larger of variance and eps is taken", "rstd = 1 / √max(var, eps)",
           [](As& a) { a.rstd = [](double v, double eps) { return 1 / std::sqrt(std::fmax(v, eps)); }; }),
      with("the square root of the variance is left out", "rstd = 1 / (var + eps)",
           [](As& a) { a.rstd = [](double v, double eps) { return 1 / (v + eps); }; }),
      with("x is multiplied by the standard deviation, not divided by it", "rstd = √(var + eps)",
           [](As& a) { a.rstd = [](double v, double eps) { return std::sqrt(v + eps); }; }),
      with("the division by the standard deviation is left out", "rstd = 1",
           [](As& a) { a.rstd = [](double, double) { return 1.0; }; })};
}

std::vector<NormalisedAs> gradients_otherwise() {
  using As = NormalisedAs;
  return {with("the mean of the gradient is not subtracted", "dx = rstd (g - x̂ mean(g x̂))", [](As& a) { a.a = 0; }),
          with("the gradient through the variance is left out", "dx = rstd (g - mean(g))", [](As& a) { a.b = 0; }),
          with("the statistics are treated as constants", "dx = rstd g", [](As& a) { a.a = a.b = 0; }),
          with("the mean of the gradient is added", "dx = rstd (g + mean(g) - x̂ mean(g x̂))", [](As& a) { a.a = -1; }),
          with("the gradient through the variance has the other sign", "dx = rstd (g - mean(g) + x̂ mean(g x̂))",
               [](As& a) { a.b = -1; }),
          with("the gradient through the variance is taken twice", "dx = rstd (g - mean(g) - 2 x̂ mean(g x̂))",
               [](As& a) { a.b = 2; }),
          with("the mean of the gradient is subtracted twice", "dx = rstd (g - 2 mean(g) - x̂ mean(g x̂))",
               [](As& a) { a.a = 2; }),
          with("the gradient through the variance is halved", "dx = rstd (g - mean(g) - x̂ mean(g x̂) / 2)",
               [](As& a) { a.b = 0.5; }),
          with("sums are used in place of means", "dx = rstd (g - Σ g - x̂ Σ g x̂)", [](As& a) { a.sum_for_mean = 1; }),
          with("the weight is left out", "g = dy", [](As& a) { a.weighted = false; }),
          with("the division by the standard deviation is left out", "dx = g - mean(g) - x̂ mean(g x̂)",
               [](As& a) { a.powers_of_rstd = 0; }),
          with("the gradient is divided by the standard deviation twice", "dx = rstd² (g - mean(g) - x̂ mean(g x̂))",
               [](As& a) { a.powers_of_rstd = 2; }),
          with("the weight's gradient uses x in place of x̂", "dγ = Σ dy x", [](As& a) { a.raw_x = true; }),
          with("the weight's gradient is not divided by the standard deviation", "dγ = Σ dy (x - mean)",
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

const RegisterBug registered{{
    .name = "normalised-otherwise",
    .stages = {"forward", "backward"},
    .sentence = "a term of the normalisation is missing, misplaced or has another factor",
    .formula = "y = γ (x - mean) rstd + β, or its gradient, with one thing done otherwise",
    .remedy = "correct that term, or call `F.layer_norm`, `F.rms_norm` or `F.batch_norm`",
    .hypotheses = ways,
}};

}  // namespace
}  // namespace tally::normalised_otherwise_bug
