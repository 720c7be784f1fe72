#include "properties/diagnosis/suspects/normalised.hpp"

#include <cmath>

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
    const bool by_row = layer.kind == "layer_norm";
    const bool own_statistics = layer.kind == "batch_norm" && layer.text("statistics") == "micro_batch";
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
