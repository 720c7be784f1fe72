// Many like addends in one buffer, and what a sweep makes of them.
#include "properties/lab/sweeps/accumulate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "kernels/device/half.hpp"
#include "properties/lab/study.hpp"

namespace tally {
namespace {

/// Addition rounded once to S. The sum of two 16-bit numbers is rounded to fp32 first; as 24 >= 2 p + 2, rounding that
/// to p bits again gives what one rounding gives.
template <class S>
struct Nearest {
  static float add(float a, float b) { return to_float(from_float<S>(a + b)); }
};

struct TowardsZero {
  static float add(float a, float b) {
    const double exact = static_cast<double>(a) + b;  // at most 46 bits here
    const auto nearest = static_cast<float>(exact);
    return std::fabs(static_cast<double>(nearest)) > std::fabs(exact) ? std::nextafter(nearest, 0.0f) : nearest;
  }
};

template <class Sum>
class Plain {
 public:
  bool add(float addend) {
    const float before = sum_;
    sum_ = Sum::add(sum_, addend);
    return sum_ == before;
  }
  double sum() const { return sum_; }

 private:
  float sum_ = 0;
};

template <class Sum>
class Kahan {
 public:
  void add(float addend) {
    const float compensated = Sum::add(addend, -lost_);
    const float next = Sum::add(sum_, compensated);
    lost_ = Sum::add(Sum::add(next, -sum_), -compensated);
    sum_ = next;
  }
  double sum() const { return sum_; }

 private:
  float sum_ = 0, lost_ = 0;
};

/// Buffer number l holds the sum of 2^l addends while bit l of the count is set.
template <class Sum>
class Pairwise {
 public:
  void add(float addend) {
    std::size_t level = 0;
    for (std::uint64_t bits = count_++; bits & 1; bits >>= 1) addend = Sum::add(buffers_[level++], addend);
    buffers_[level] = addend;
  }
  double sum() const {
    float total = 0;
    for (std::size_t level = 0; level < buffers_.size(); ++level) {
      if (count_ >> level & 1) total = Sum::add(buffers_[level], total);
    }
    return total;
  }

 private:
  std::array<float, 64> buffers_{};
  std::uint64_t count_ = 0;
};

/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }

 private:
  std::uint64_t state_;
};

float addend_of(std::uint64_t word, int precision, Signs signs) {
  const std::uint64_t mantissa = word >> (65 - precision);  // precision - 1 bits
  const auto exponent = static_cast<std::uint32_t>((word & 0xffff) * 3 >> 16);
  const bool negative = signs == Signs::random && (word >> 16 & 1) != 0;
  const std::uint64_t bits = std::uint64_t{negative} << 31 | (127 - 8 + exponent) << 23 | mantissa << (24 - precision);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

void add_lane(BufferDrift& drift, double sum, double exact) {
  drift.error_squares += (sum - exact) * (sum - exact);
  drift.exact_squares += exact * exact;
}

template <class Sum>
StageDrift accumulate_lanes(int precision, Signs signs, std::uint64_t addends, std::uint64_t lanes,
                            std::uint64_t seed) {
  StageDrift drift;
  SplitMix seeds(seed);
  for (std::uint64_t lane = 0; lane < lanes; ++lane) {
    SplitMix words(seeds());
    Plain<Sum> plain;
    Kahan<Sum> kahan;
    Pairwise<Sum> pairwise;
    double exact = 0;
    for (std::uint64_t k = 0; k < addends; ++k) {
      const float addend = addend_of(words(), precision, signs);
      drift.plain.lost += plain.add(addend);
      kahan.add(addend);
      pairwise.add(addend);
      exact += static_cast<double>(addend);
    }
    add_lane(drift.plain, plain.sum(), exact);
    add_lane(drift.kahan, kahan.sum(), exact);
    add_lane(drift.pairwise, pairwise.sum(), exact);
  }
  return drift;
}

}  // namespace

std::string_view name_of(Rounding rounding) {
  constexpr std::string_view names[] = {"fp32", "fp16", "bf16", "fp32 towards zero"};
  return names[static_cast<int>(rounding)];
}

int precision_of(Rounding rounding) { return rounding == Rounding::fp16 ? 11 : rounding == Rounding::bf16 ? 8 : 24; }

std::string_view name_of(BufferKind kind) {
  constexpr std::string_view names[] = {"plain", "Kahan", "pairwise"};
  return names[static_cast<int>(kind)];
}

double BufferDrift::relative() const { return std::sqrt(error_squares / exact_squares); }

StageDrift accumulate_alone(Rounding rounding, Signs signs, std::uint64_t addends, std::uint64_t lanes,
                            std::uint64_t seed) {
  const int precision = precision_of(rounding);
  switch (rounding) {
    case Rounding::fp16:
      return accumulate_lanes<Nearest<half>>(precision, signs, addends, lanes, seed);
    case Rounding::bf16:
      return accumulate_lanes<Nearest<bfloat16>>(precision, signs, addends, lanes, seed);
    case Rounding::fp32_towards_zero:
      return accumulate_lanes<TowardsZero>(precision, signs, addends, lanes, seed);
    case Rounding::fp32:
      break;
  }
  return accumulate_lanes<Nearest<float>>(precision, signs, addends, lanes, seed);
}

namespace {

constexpr Rounding roundings[] = {Rounding::fp32, Rounding::fp16, Rounding::bf16};
constexpr Signs both_signs[] = {Signs::random, Signs::same};
constexpr BufferKind kinds[] = {BufferKind::plain, BufferKind::kahan, BufferKind::pairwise};

/// Largest exponent of K: 20 at effort 1, one less for each halving.
int largest_exponent(const StudyOptions& options) {
  return std::clamp(20 + static_cast<int>(std::lround(std::log2(options.effort))), 10, 20);
}

struct Part {
  Rounding rounding;
  Signs signs;
  int exponent;
};

/// The longest sums first, so that no process waits for one at the end.
std::vector<Part> parts_of(int largest) {
  std::vector<Part> parts;
  for (int exponent = largest; exponent >= 1; --exponent) {
    for (const Rounding rounding : roundings) {
      for (const Signs signs : both_signs) parts.push_back({rounding, signs, exponent});
    }
  }
  return parts;
}

Numbers measured(const Part& part, const StudyOptions& options) {
  const std::uint64_t own = static_cast<std::uint64_t>(part.exponent) << 8 |
                            static_cast<std::uint64_t>(part.rounding) << 4 | static_cast<std::uint64_t>(part.signs);
  const StageDrift drift = accumulate_alone(part.rounding, part.signs, std::uint64_t{1} << part.exponent,
                                            lanes_of(options), options.seed ^ own << 40);
  return {drift.plain.relative(), drift.kahan.relative(), drift.pairwise.relative(),
          static_cast<double>(drift.plain.lost)};
}

}  // namespace

std::size_t lanes_of(const StudyOptions& options) { return scaled(options, 32, 8); }

void fit_below_stagnation(BufferCurve& curve, const std::vector<double>& lost) {
  std::vector<double> addends, drift;
  curve.fitted = 0;
  for (std::size_t i = 0; i < lost.size() && lost[i] <= 0; ++i) {
    curve.fitted = i + 1;
    if (curve.addends[i] < first_fitted) continue;
    addends.push_back(curve.addends[i]);
    drift.push_back(curve.drift[i]);
  }
  curve.fit = fit_power(addends, drift);
}

Status bias_verdict(const Fit& fit) {
  if (fit.interval.high < 1) return Status::pass;
  return fit.interval.low > 0.5 ? Status::fail : Status::vacuous;
}

std::vector<BufferCurve> buffer_curves(const StudyOptions& options) {
  const auto parts = parts_of(largest_exponent(options));
  const auto answers = run_jobs(
      options, parts.size(), [&](std::size_t i) { return measured(parts[i], options); },
      [&](std::size_t i) {
        return "accumulate alone, " + std::string(name_of(parts[i].rounding)) + ", K = 2^" +
               std::to_string(parts[i].exponent);
      });
  std::vector<BufferCurve> curves;
  for (const Signs signs : both_signs) {
    for (const BufferKind kind : kinds) {
      for (const Rounding rounding : roundings) {
        BufferCurve curve{rounding, signs, kind, {}, {}};
        std::vector<double> lost;
        for (std::size_t i = parts.size(); i-- > 0;) {
          if (parts[i].rounding != rounding || parts[i].signs != signs || answers[i].empty()) continue;
          curve.addends.push_back(std::exp2(parts[i].exponent));
          curve.drift.push_back(answers[i][static_cast<std::size_t>(kind)]);
          lost.push_back(answers[i][3]);
        }
        fit_below_stagnation(curve, lost);
        curves.push_back(std::move(curve));
      }
    }
  }
  return curves;
}

const BufferCurve& curve_of(const std::vector<BufferCurve>& curves, Rounding rounding, Signs signs, BufferKind kind) {
  return *std::find_if(curves.begin(), curves.end(), [&](const BufferCurve& curve) {
    return curve.rounding == rounding && curve.signs == signs && curve.kind == kind;
  });
}

}  // namespace tally
