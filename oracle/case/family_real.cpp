#include <cmath>

#include "oracle/case/family.hpp"

namespace tally {
namespace {

double top_bits(std::uint32_t word, int bits) { return static_cast<double>(word >> (32 - bits)); }

double sign_of(std::uint32_t word) { return word >> 31 != 0 ? -1.0 : 1.0; }

double zero(const Words&, const FormatRow&, const Arguments&) { return 0; }
double one(const Words&, const FormatRow&, const Arguments&) { return 1; }

double uniform(const Words& w, const FormatRow& f, const Arguments&) {
  return std::ldexp(top_bits(w[0], f.p), 1 - f.p) - 1;
}

double positive(const Words& w, const FormatRow& f, const Arguments&) {
  return 0.5 + std::ldexp(top_bits(w[0], f.p - 1), 1 - f.p);
}

/// Twelve uniforms on the midpoints of 2^32 cells; the sum stays below 2^37, so nothing rounds.
double normal(const Words& w, const FormatRow&, const Arguments&) {
  std::int64_t sum = 12 - (std::int64_t{12} << 32);
  for (std::uint32_t i = 0; i < 12; ++i) sum += 2 * std::int64_t{w[i]};
  return std::ldexp(static_cast<double>(sum), -33);
}

double he(const Words& w, const FormatRow& f, const Arguments& a) {
  return normal(w, f, a) * std::sqrt(2.0 / static_cast<double>(a[0]));
}

double dyadic(const Words& w, const FormatRow&, const Arguments& a) {
  const std::int64_t largest = (std::int64_t{1} << a[0]) - 1;
  const auto drawn = static_cast<std::int64_t>(w.below(0, static_cast<std::uint64_t>(2 * largest + 1)));
  return std::ldexp(static_cast<double>(drawn - largest), -static_cast<int>(a[0]));
}

double significand(std::uint32_t word, const FormatRow& f) { return 1 + std::ldexp(top_bits(word, f.p - 1), 1 - f.p); }

double wide(const Words& w, const FormatRow& f, const Arguments&) {
  return sign_of(w[2]) * std::ldexp(significand(w[0], f), static_cast<int>(w.below(1, 15)) - 12);
}

double variance(const Words& w, const FormatRow& f, const Arguments&) {
  return std::ldexp(significand(w[0], f), static_cast<int>(w.below(1, 3)) - 2);
}

double tiny(const Words& w, const FormatRow& f, const Arguments&) {
  const std::uint64_t units = w.below(0, std::uint64_t{1} << f.p);
  return sign_of(w[1]) * std::ldexp(static_cast<double>(units), f.emin - f.p + 1);
}

double halfway(const Words& w, const FormatRow& f, const Arguments&) {
  const int bits = next_narrower(f.p);
  const double units = std::ldexp(1.0, bits - 1) + top_bits(w[0], bits - 1) + 0.5;
  return sign_of(w[2]) * std::ldexp(units, 1 - bits + static_cast<int>(w.below(1, 3)) - 1);
}

/// A power of two or one of its neighbours; the lower one is half as far.
double powers(const Words& w, const FormatRow& f, const Arguments&) {
  const double away = static_cast<double>(w.below(1, 3)) - 1;
  return sign_of(w[2]) *
         std::ldexp(1 + std::ldexp(away, away < 0 ? -f.p : 1 - f.p), static_cast<int>(w.below(0, 7)) - 3);
}

double zeros_signed(const Words& w, const FormatRow& f, const Arguments& a) {
  return w.below(1, 2) == 0 ? sign_of(w[2]) * 0.0 : uniform(w, f, a);
}

double outlier(const Words& w, const FormatRow& f, const Arguments& a) {
  return std::ldexp(normal(w, f, a), w.below(12, 16) == 0 ? 8 : 0);
}

double pairs(const Words& w, const FormatRow& f, const Arguments&) {
  const Words pair = w.of_pair();
  const double first = sign_of(pair[2]) * std::ldexp(significand(pair[0], f), static_cast<int>(pair.below(1, 4)) - 2);
  if (!w.is_odd()) return first;
  const double ulp = std::ldexp(1.0, std::ilogb(first) - f.p + 1);
  return pair.below(3, 2) == 0 || significand(pair[0], f) == 1 ? -first : -first + std::copysign(ulp, first);
}

double fan_in(const Words& w, const FormatRow& f, const Arguments& a) {
  return uniform(w, f, a) / std::sqrt(static_cast<double>(a[0]));
}

double unit(const Words& w, const FormatRow& f, const Arguments&) { return std::ldexp(top_bits(w[0], f.p), -f.p); }

double binary(const Words& w, const FormatRow&, const Arguments& a) {
  return w.below(0, 100) < static_cast<std::uint64_t>(a[0]) ? 1 : 0;
}

double one_hot(const Words& w, const FormatRow&, const Arguments& a) {
  const auto columns = static_cast<std::uint64_t>(a[0]);
  return w.of_row(columns).below(0, columns) == w.column(columns) ? 1 : 0;
}

double ratio(const Words&, const FormatRow&, const Arguments& a) {
  return static_cast<double>(a[0]) / static_cast<double>(a[1]);
}

}  // namespace

const std::vector<RealFamily>& real_families() {
  static const std::vector<RealFamily> all{
      {"zeros", {}, zero},
      {"ones", {}, one},
      {"uniform", {}, uniform},
      {"positive", {}, positive},
      {"normal", {}, normal},
      {"he", {std::int64_t{1} << 40}, he},
      {"dyadic", {16}, dyadic},
      {"wide", {}, wide},
      {"variance", {}, variance},
      {"tiny", {}, tiny},
      {"powers", {}, powers},
      {"halfway", {}, halfway},
      {"outlier", {}, outlier},
      {"pairs", {}, pairs},
      {"zeros_signed", {}, zeros_signed},
      {"fan_in", {std::int64_t{1} << 40}, fan_in},
      {"unit", {}, unit},
      {"binary", {100}, binary},
      {"one_hot", {std::int64_t{1} << 28}, one_hot},
      {"ratio", {std::int64_t{1} << 40, std::int64_t{1} << 40}, ratio},
  };
  return all;
}

}  // namespace tally
