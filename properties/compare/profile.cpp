#include "properties/compare/profile.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "properties/compare/element_kinds.hpp"

namespace tally {
namespace {

struct Element {
  double value, got, signed_error, bound;
};

Element element(const oracle::Expected& expected, const Tensor& got, std::size_t i) {
  const double held = is_integer(got.dtype) ? static_cast<double>(got.integer(i)) : got.value(i);
  const long double v = expected.v.data()[i];
  const bool same = static_cast<long double>(held) == v || (std::isnan(held) && std::isnan(v));
  return {static_cast<double>(v), held, same ? 0 : static_cast<double>(held - v), expected.e.data()[i]};
}

/// What the elements are sorted by: not a number first, then error / bound, which only ranks them.
double rank_of(const Element& x) {
  if (!std::isfinite(x.signed_error)) return infinite;
  if (x.signed_error == 0) return 0;
  return x.bound > 0 ? std::fabs(x.signed_error) / x.bound : infinite;  // a NaN of a bound bounds nothing
}

std::vector<std::int64_t> index_of(std::size_t i, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size());
  auto rest = static_cast<std::int64_t>(i);
  for (std::size_t k = shape.size(); k-- > 0; rest /= shape[k]) index[k] = rest % shape[k];
  return index;
}

/// The spacing of the format at `value`; 1 for an integer.
double spacing(Dtype dtype, double value) {
  if (is_integer(dtype)) return 1;
  const oracle::Format format = oracle::format_of(dtype);
  const int exponent = value == 0 || !std::isfinite(value) ? format.emin : std::max(std::ilogb(value), format.emin);
  return std::ldexp(1, exponent - format.p + 1);
}

void add_stretch(ElementProfile& profile, const std::vector<Element>& elements, Dtype dtype, std::size_t from) {
  const std::size_t to = std::min<std::size_t>(elements.size(), from + profile.stretch);
  double low = infinite, high = -infinite;
  std::size_t worst = from;
  for (std::size_t i = from; i < to; ++i) {
    const double error = elements[i].signed_error / spacing(dtype, elements[i].value);
    if (error < low) low = error;
    if (error > high) high = error;
    if (rank_of(elements[i]) > rank_of(elements[worst])) worst = i;
  }
  const bool none = !(low <= high);  // nothing but NaN
  const double unit = spacing(dtype, elements[worst].value);
  profile.low.push_back(none ? std::nan("") : low);
  profile.high.push_back(none ? std::nan("") : high);
  profile.value.push_back(elements[worst].value);
  profile.error.push_back(std::fabs(elements[worst].signed_error) / unit);
  profile.bound.push_back(elements[worst].bound / unit);
}

/// Adds the map of a matrix; nothing for anything else.
void add_map(ElementMap& map, const std::vector<Element>& elements, const std::vector<std::int64_t>& shape) {
  if (shape.size() != 2 || shape[0] < 2 || shape[1] < 2) return;
  constexpr auto most = static_cast<std::uint64_t>(ElementMap::most_blocks);
  map.rows = static_cast<std::uint64_t>(shape[0]), map.columns = static_cast<std::uint64_t>(shape[1]);
  map.block_rows = (map.rows + most - 1) / most, map.block_columns = (map.columns + most - 1) / most;
  const std::uint64_t down = (map.rows + map.block_rows - 1) / map.block_rows,
                      across = (map.columns + map.block_columns - 1) / map.block_columns;
  map.ratio.assign(down * across, 0);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::size_t row = i / map.columns / map.block_rows, column = i % map.columns / map.block_columns;
    double& worst = map.ratio[row * across + column];
    worst = std::max(worst, rank_of(elements[i]));
  }
}

}  // namespace

void add_profile(TensorCheck& check, const oracle::Expected& expected, const Tensor& got) {
  std::vector<Element> elements(got.elements());
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = element(expected, got, i);
  std::vector<std::size_t> order(elements.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto listed = static_cast<std::ptrdiff_t>(std::min(listed_elements, order.size()));
  std::partial_sort(order.begin(), order.begin() + listed, order.end(), [&elements](std::size_t a, std::size_t b) {
    const double left = rank_of(elements[a]), right = rank_of(elements[b]);
    return left != right ? left > right : a < b;
  });
  for (const std::size_t i : std::vector(order.begin(), order.begin() + listed)) {
    const Element& x = elements[i];
    if (x.signed_error == 0) break;
    check.elements_worst.push_back({index_of(i, got.shape), x.value, x.got, std::fabs(x.signed_error), x.bound});
  }
  constexpr std::size_t most = ElementProfile::most_stretches;
  check.profile.stretch = (elements.size() + most - 1) / most;
  for (std::size_t i = 0; i < elements.size(); i += check.profile.stretch)
    add_stretch(check.profile, elements, got.dtype, i);
  add_map(check.profile.map, elements, got.shape);
}

}  // namespace tally
