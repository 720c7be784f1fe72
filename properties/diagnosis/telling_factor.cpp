#include "properties/diagnosis/telling_factor.hpp"

#include <cmath>
#include <utility>

#include "oracle/tolerance/format.hpp"
#include "properties/diagnosis/factors_of_counts.hpp"

namespace tally {
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
  if (scale.kind != "none") {
    const double s = scale.number(scale.kind == "static" ? "scale" : "initial").to_double();
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
    const bool plain = word == "one half" || word == "two";  // where K is 2, nobody knows which it is
    if (!(std::fabs(factor - value) <= rounding * std::fabs(value)) || (!words.empty() && !plain)) continue;
    words += (words.empty() ? "" : ", or ") + word;
  }
  return words;
}

}  // namespace tally
