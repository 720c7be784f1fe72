#include "properties/diagnosis/explained.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>

#include "oracle/tolerance/format.hpp"

namespace tally {
namespace {

constexpr double finest_resolution = 0x1p-20;

struct Element {
  double got, expected, candidate, unit_roundoff;
};

double unit_roundoff_of(Dtype dtype) {
  return dtype == Dtype::i64 || dtype == Dtype::u8 ? 0 : oracle::format_of(dtype).unit_roundoff();
}

std::vector<Element> elements_of(const std::vector<HeldTensor>& held,
                                 const std::vector<std::optional<Values>>& candidates) {
  std::vector<Element> all;
  for (std::size_t t = 0; t < held.size(); ++t) {
    const HeldTensor& tensor = held[t];
    const Values& candidate = candidates[t] ? *candidates[t] : tensor.expected;
    if (candidate.size() != tensor.got.size() || tensor.expected.size() != tensor.got.size()) continue;
    for (std::size_t i = 0; i < tensor.got.size(); ++i) {
      const double left = candidates[t] ? rounded_to(tensor.dtype, candidate[i]) : candidate[i];
      all.push_back({tensor.got[i], tensor.expected[i], left, unit_roundoff_of(tensor.dtype)});
    }
  }
  return all;
}

/// Where the wrong elements are those that are finite or not against expectation.
std::optional<Explained> explained_by_finiteness(const std::vector<Element>& elements) {
  double wrong = 0, both = 0, either = 0;
  for (const Element& x : elements) {
    const bool came = std::isfinite(x.got) != std::isfinite(x.expected);
    const bool said = std::isfinite(x.candidate) != std::isfinite(x.expected);
    wrong += came, both += came && said, either += came || said;
  }
  if (wrong == 0) return std::nullopt;
  Explained found;
  found.share = both / either;
  found.dimensions = either;
  found.chance = std::pow(1 - found.share, either / 2);
  return found;
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

double chance_of(const Explained& found, bool fits_factor) {
  if (!(found.share > 0)) return 1;
  if (!fits_factor) return std::pow(1 - found.share, found.dimensions / 2);
  if (!(found.dimensions > 1)) return 1;
  return boost::math::ibeta((found.dimensions - 1) / 2, 0.5, 1 - found.share);
}

}  // namespace

Explained explained_by(const std::vector<HeldTensor>& held, const std::vector<std::optional<Values>>& candidates,
                       bool fits_factor) {
  const std::vector<Element> elements = elements_of(held, candidates);
  if (const auto found = explained_by_finiteness(elements)) return *found;
  Explained found;
  found.factor = fits_factor ? fitted_factor(elements) : 1;
  long double before = 0, after = 0, fourth = 0, rounding = 0;
  for (const Element& x : elements) {
    if (!std::isfinite(x.got) || !std::isfinite(x.expected)) continue;
    const long double error = static_cast<long double>(x.got) - x.expected;
    const long double rest = static_cast<long double>(x.got) - static_cast<long double>(found.factor) * x.candidate;
    before += error * error, fourth += error * error * error * error, after += rest * rest;
    rounding += std::pow(2 * x.unit_roundoff * x.got, 2);
  }
  if (!(before > 0)) return found;
  found.share = std::isfinite(static_cast<double>(after)) ? static_cast<double>(1 - after / before) : 0;
  found.dimensions = fourth > 0 ? static_cast<double>(before * before / fourth) : 1;
  found.resolution = std::min(static_cast<double>(rounding / before), finest_resolution);
  found.chance = chance_of(found, fits_factor);
  return found;
}

}  // namespace tally
