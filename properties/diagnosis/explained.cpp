// How well a formula explains an error, against chance, and factors that are known bugs.
#include "properties/diagnosis/explained.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <cstdio>
#include <utility>

#include "oracle/case/kinds.hpp"
#include "oracle/tolerance/format.hpp"
#include "properties/judge/verdict.hpp"

namespace tally {
namespace {

/// Integers are exact: a match counts as one in this many, not as certain.
constexpr double resolution_of_integers = 0x1p-24;
/// What a formula may be off by, in roundings of the tensor and in bounds of its right value: it is evaluated without
/// the roundings in between.
constexpr double roundings_allowed = 4, bounds_allowed = 2;

struct Element {
  double got, expected, candidate, bound, unit_roundoff;
};

double unit_roundoff_of(Dtype dtype) { return is_integer(dtype) ? 0 : oracle::format_of(dtype).unit_roundoff(); }

std::vector<Element> elements_of(const std::vector<HeldTensor>& held,
                                 const std::vector<std::optional<Values>>& candidates,
                                 const std::vector<std::optional<Values>>& bounds) {
  std::vector<Element> all;
  for (std::size_t t = 0; t < held.size(); ++t) {
    const HeldTensor& tensor = held[t];
    const Values& candidate = candidates[t] ? *candidates[t] : tensor.expected;
    if (candidate.size() != tensor.got.size() || tensor.expected.size() != tensor.got.size()) continue;
    const double unit_roundoff = unit_roundoff_of(tensor.dtype);
    for (std::size_t i = 0; i < tensor.got.size(); ++i) {
      const double own = tensor.bound.empty() ? 0 : tensor.bound[i];
      const double bound = t < bounds.size() && bounds[t] ? std::max(own, (*bounds[t])[i]) : own;
      all.push_back({tensor.got[i], rounded_to(tensor.dtype, tensor.expected[i]),
                     rounded_to(tensor.dtype, candidate[i]), bound, unit_roundoff});
    }
  }
  return all;
}

double fitted_factor(const std::vector<Element>& elements) {
  long double product = 0, square = 0;
  for (const Element& x : elements) {
    if (!std::isfinite(x.got) || !std::isfinite(x.candidate)) continue;
    product += static_cast<long double>(x.got) * x.candidate;
    square += static_cast<long double>(x.candidate) * x.candidate;
  }
  return square > 0 ? static_cast<double>(product / square) : 1;
}

double allowance_of(const Element& x, double factor) {
  const double size = std::fabs(factor * x.candidate);
  if (!std::isfinite(x.expected)) return roundings_allowed * x.unit_roundoff * size;
  const double larger = x.expected == 0 ? 1 : std::max(1.0, size / std::fabs(x.expected));
  return roundings_allowed * x.unit_roundoff * size + bounds_allowed * x.bound * larger;
}

/// For elements that are finite where they should not be, or the other way round.
std::optional<Explained> explained_by_finiteness(const std::vector<Element>& elements) {
  double wrong = 0, both = 0, either = 0;
  bool alike = true;
  for (const Element& x : elements) {
    const bool came = std::isfinite(x.got) != std::isfinite(x.expected);
    const bool said = std::isfinite(x.candidate) != std::isfinite(x.expected);
    wrong += came, both += came && said, either += came || said;
    alike = alike && (!std::isfinite(x.got) || !std::isfinite(x.candidate) ||
                      std::fabs(x.got - x.candidate) <= allowance_of(x, 1));
  }
  if (wrong == 0) return std::nullopt;
  Explained found;
  found.share = both / either;
  found.dimensions = either;
  found.chance = std::pow(1 - found.share, either / 2);
  found.within = both == either && alike;
  return found;
}

double chance_of(const Explained& found, bool fits_factor) {
  if (!(found.rest < 1)) return 1;
  if (!fits_factor) return std::pow(found.rest, found.dimensions / 2);
  if (!(found.dimensions > 1)) return 1;
  return boost::math::ibeta((found.dimensions - 1) / 2, 0.5, found.rest);
}

}  // namespace

Explained explained_by(const std::vector<HeldTensor>& held, const std::vector<std::optional<Values>>& candidates,
                       bool fits_factor, const std::vector<std::optional<Values>>& bounds) {
  const std::vector<Element> elements = elements_of(held, candidates, bounds);
  if (const auto found = explained_by_finiteness(elements)) return *found;
  Explained found;
  found.factor = fits_factor ? fitted_factor(elements) : 1;
  found.within = true;
  long double before = 0, after = 0, fourth = 0, rounding = 0, floor = 0;
  for (const Element& x : elements) {
    if (!std::isfinite(x.got) || !std::isfinite(x.expected)) continue;
    const long double error = static_cast<long double>(x.got) - x.expected;
    const long double rest = static_cast<long double>(x.got) - static_cast<long double>(found.factor) * x.candidate;
    before += error * error, fourth += error * error * error * error, after += rest * rest;
    rounding += std::pow(2 * x.unit_roundoff * x.got, 2);
    floor += std::pow((x.unit_roundoff > 0 ? x.unit_roundoff / 2 : resolution_of_integers) * x.got, 2);
    found.within = found.within && std::fabs(static_cast<double>(rest)) <= allowance_of(x, found.factor);
  }
  if (!(before > 0)) return found;
  const auto left = static_cast<double>(after / before);
  found.share = std::isfinite(left) ? 1 - left : 0;
  found.dimensions = fourth > 0 ? static_cast<double>(before * before / fourth) : 1;
  found.resolution = static_cast<double>(rounding / before);
  found.rest = std::max(left, static_cast<double>(floor / before));
  found.chance = chance_of(found, fits_factor);
  return found;
}

namespace {

std::string with(const char* name, double count) {
  char text[48];
  std::snprintf(text, sizeof text, "%s = %.6g", name, count);
  return text;
}

void add_counts(std::vector<NamedFactor>& all, double count, const char* letter) {
  const std::string name = letter, value = " with " + with(letter, count);
  if (count == 0 || count == 1) return;
  all.push_back({1 / count, "1/" + name, value});
  all.push_back({count, name, value});
  all.push_back({(count - 1) / count, "(" + name + "-1)/" + name, value});
  all.push_back({count / (count - 1), name + "/(" + name + "-1)", value});
}

}  // namespace

std::vector<NamedFactor> factors_of_counts(double micro_batches, double own, double items) {
  std::vector<NamedFactor> all;
  add_counts(all, micro_batches, "K");
  if (own > 0 && own != items) {
    const std::string values = " with " + with("n_k", own) + ", " + with("N", items);
    all.push_back({own / items, "n_k/N", values}), all.push_back({items / own, "N/n_k", values});
    all.push_back({items / (micro_batches * own), "N/(K n_k)", values + ", " + with("K", micro_batches)});
  }
  add_counts(all, items, "N");
  return all;
}

namespace {

using Named = std::pair<double, std::string>;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

double items_of(const Case& c, int window, int k) {
  const auto w = static_cast<std::size_t>(window), m = static_cast<std::size_t>(k);
  const std::int64_t first = first_row(c, w, m);
  double sum = 0;
  for (std::int64_t i = 0; i < c.windows[w][m]; ++i) sum += item_weight(c, first + i).to_double();
  return sum;
}

std::vector<Named> factors_of(const Case& c, int window, int micro_batch) {
  const auto& sizes = c.windows[static_cast<std::size_t>(window)];
  const int k_count = static_cast<int>(sizes.size());
  double items = 0, rows = 0, own = 0;
  for (int k = 0; k < k_count; ++k) items += items_of(c, window, k), rows += double(sizes[std::size_t(k)]);
  if (micro_batch >= 0 && micro_batch < k_count) own = items_of(c, window, micro_batch);
  std::vector<Named> all{{-1, "the other sign"}};
  for (const NamedFactor& factor : factors_of_counts(k_count, own, items))
    all.push_back({factor.value, factor.name + factor.with});
  if (rows != items && items > 0)
    all.push_back({items / rows, "N/rows with N = " + number(items) + " of " + number(rows) + " rows"});
  const Choice& scale = c.recipe.loss_scale;
  if (scale.kind != kinds::none) {
    const double s = scale.number(scale.kind == kinds::fixed ? "scale" : "initial").to_double();
    if (s != 1) all.push_back({s, "the loss scale"}), all.push_back({1 / s, "1/S with loss scale S = " + number(s)});
  }
  all.push_back({0.5, "one half"}), all.push_back({2, "two"});
  return all;
}

}  // namespace

std::string telling_factor(const Case& c, int window, int micro_batch, Dtype dtype, double factor) {
  if (!std::isfinite(factor) || dtype == Dtype::i64 || dtype == Dtype::u8) return "";
  const double rounding = 4 * oracle::format_of(dtype).unit_roundoff();
  if (std::fabs(factor - 1) <= rounding) return "";
  std::string words;
  for (const auto& [value, word] : factors_of(c, window, micro_batch)) {
    const bool plain = word == "one half" || word == "two";  // if K is 2, both words fit
    if (!(std::fabs(factor - value) <= rounding * std::fabs(value)) || (!words.empty() && !plain)) continue;
    words += (words.empty() ? "" : ", or ") + word;
  }
  return words;
}

}  // namespace tally
