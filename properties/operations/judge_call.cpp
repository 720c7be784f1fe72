#include "properties/operations/judge_call.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oracle/operations/rule.hpp"

namespace tally {
namespace {

using oracle::infinite;
using oracle::operations::Call;
using oracle::operations::Demand;
using oracle::operations::Element;
using oracle::operations::NotJudged;
using oracle::operations::Part;
using oracle::operations::Value;
using oracle::operations::Values;
using oracle::operations::View;

constexpr std::int64_t part_size = 1 << 16;
constexpr std::int64_t fewest_with_spread = 16;

bool same(double found, double expected) { return found == expected || (std::isnan(found) && std::isnan(expected)); }

std::vector<std::int64_t> place_of(std::int64_t index, const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> at(sizes.size());
  for (std::size_t i = sizes.size(); i-- > 0; index /= sizes[i]) at[i] = index % sizes[i];
  return at;
}

class Judge {
 public:
  explicit Judge(const Demand& demand) : demand_(demand), whole_(!is_float(demand.found.element)) {
    result_.name = demand.output;
    result_.format = name_of(demand.found.element);
    result_.sizes = demand.found.sizes;
    result_.elements = demand.found.count();
    const bool has_bound = demand.holds == Demand::bound;
    threshold_ = has_bound ? format_of(demand.found.element).overflow_threshold() : infinite;
  }

  JudgedResult judged() {
    const std::int64_t all = result_.elements, unit = std::max<std::int64_t>(demand_.unit, 1);
    oracle::operations::expect_sizes(all % unit == 0);
    const std::int64_t size = std::max(std::max(part_size, demand_.part) / unit, std::int64_t{1}) * unit;
    for (std::int64_t first = 0; first < all; first += size) part(first, std::min(size, all - first));
    result_.vacuous = errors_ > 0 && errors_ >= values_;
    if (drawn_ >= fewest_with_spread) {
      result_.spread = std::sqrt(squares_ / static_cast<double>(drawn_));
      result_.imprecise = result_.wrong == 0 && result_.is_less_precise();
    }
    if (!result_.elements_worst.empty()) {
      const std::vector<std::int64_t>& place = result_.elements_worst.front().place;
      result_.block = demand_.found.block;
      result_.at = std::inner_product(place.begin(), place.end(), demand_.found.strides.begin(), demand_.found.offset);
    }
    return result_;
  }

  /// Whether all numbers that were found are, moved ones aside.
  bool finite() const { return finite_; }

 private:
  void part(std::int64_t first, std::int64_t count) {
    const auto n = static_cast<std::size_t>(count);
    if (demand_.holds == Demand::raw) {
      bits_.resize(n);
      expected_.resize(n);
      demand_.found.read_bits(first, count, bits_.data());
      demand_.raw_of(first, count, expected_.data());
      for (std::size_t i = 0; i < n; ++i)
        if (bits_[i] != expected_[i]) wrong_bits(first + static_cast<std::int64_t>(i), expected_[i]);
      return;
    }
    found_.resize(n);
    v_.resize(n);
    e_.assign(n, 0);
    s_.assign(n, NAN);
    demand_.found.read(first, count, found_.data());
    double sum = 0;  // of zeros, and of NaN where a number is not finite
    for (const double each : found_) sum += each * 0;
    finite_ = finite_ && sum == 0;
    Part asked{first, count, found_.data(), v_.data(), e_.data(), s_.data()};
    demand_.of(asked);
    if (demand_.holds == Demand::bits && demand_.found.element == Element::float32) return singles(first, n);
    for (std::size_t i = 0; i < n; ++i) element(first + static_cast<std::int64_t>(i), i);
  }

  /// Most numbers that are held to their bits have them.
  void singles(std::int64_t first, std::size_t n) {
    std::size_t others = 0;
    for (std::size_t i = 0; i < n; ++i) others += static_cast<double>(static_cast<float>(v_[i])) != found_[i] ? 1 : 0;
    if (others == 0) return;
    for (std::size_t i = 0; i < n; ++i) element(first + static_cast<std::int64_t>(i), i);
  }

  void element(std::int64_t at, std::size_t i) {
    const double found = found_[i], v = v_[i];
    if (std::signbit(e_[i]) && std::fabs(found - v) <= -e_[i]) return;  // inside of a smaller bound
    const Element format = demand_.found.element;
    if (demand_.holds == Demand::bits) {
      constexpr double largest_whole = 0x1p53;
      if (e_[i] == infinite || (whole_ && !(std::fabs(v) < largest_whole))) {
        ++result_.undecided;
      } else if (!same(found, written(format, v))) {
        wrong(at, found, written(format, v), 0);
      }
      return;
    }
    const double e = std::fabs(e_[i]);
    if (!(e < infinite)) {
      ++result_.undecided;
      return;
    }
    if (!std::isfinite(v)) {
      if (!same(found, v)) wrong(at, found, v, 0);
      return;
    }
    if (std::fabs(v) + e >= threshold_) {  // it overflows, or may
      const double beyond = std::copysign(infinite, v);
      if (std::fabs(v) - e < threshold_) {
        ++result_.undecided;
      } else if (found != beyond) {
        wrong(at, found, beyond, 0);
      }
      return;
    }
    const double error = std::fabs(found - v);
    if (!std::signbit(e_[i])) {
      values_ += std::fabs(v);
      errors_ += e;
    }
    if (!(error <= e)) {
      // With no error allowed v is exact, and so is its rounding.
      if (!(e == 0 && same(found, written(format, v)))) wrong(at, found, v, e);
      return;
    }
    if (e_[i] > 0) {
      ++result_.measured;
      result_.worst = std::max(result_.worst, error / e);
      keep(at, found, v, e, error / e);
    }
    if (s_[i] > 0) {
      ++drawn_;
      squares_ += error / s_[i] * (error / s_[i]);
    }
  }

  void wrong(std::int64_t at, double found, double expected, double allowed) {
    double r = allowed > 0 ? std::fabs(found - expected) / allowed : infinite;
    if (std::isnan(r)) r = infinite;
    ++result_.wrong;
    result_.worst = std::max(result_.worst, r);
    keep(at, found, expected, allowed, r);
  }

  /// Among the worst, if it is one of them; of equal ones the first.
  void keep(std::int64_t at, double found, double expected, double allowed, double r) {
    std::vector<JudgedElement>& all = result_.elements_worst;
    if (!(r > (all.size() < JudgedResult::most_elements ? 0 : all.back().r))) return;
    const auto behind = std::upper_bound(all.begin(), all.end(), r, [](double x, const auto& y) { return x > y.r; });
    all.insert(behind, {place_of(at, result_.sizes), found, expected, allowed, r});
    if (all.size() > JudgedResult::most_elements) all.pop_back();
  }

  void wrong_bits(std::int64_t at, std::uint64_t expected) {
    double found = 0;
    demand_.found.read(at, 1, &found);
    View one = demand_.found;
    std::uint64_t bits = expected;
    one.sizes = one.strides = {};
    one.first = reinterpret_cast<const std::byte*>(&bits);
    wrong(at, found, one.value(), 0);
  }

  const Demand& demand_;
  JudgedResult result_;
  bool whole_, finite_ = true;
  std::vector<double> found_, v_, e_, s_;
  std::vector<std::uint64_t> bits_, expected_;
  double threshold_ = infinite;
  double values_ = 0, errors_ = 0, squares_ = 0;
  std::int64_t drawn_ = 0;
};

bool finite(const View& view) {
  if (!is_float(view.element)) return true;
  std::vector<double> values;
  const std::int64_t all = view.count();
  for (std::int64_t first = 0; first < all; first += part_size) {
    const std::int64_t count = std::min(part_size, all - first);
    values.resize(static_cast<std::size_t>(count));
    view.read(first, count, values.data());
    if (!std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); })) return false;
  }
  return true;
}

bool finite(const Value& value) {
  if (const View* view = std::get_if<View>(&value.is)) return finite(*view);
  if (const double* number = std::get_if<double>(&value.is)) return std::isfinite(*number);
  if (const Values* list = std::get_if<Values>(&value.is))
    return std::all_of(list->begin(), list->end(), [](const Value& each) { return finite(each); });
  return true;
}

bool has_finite_inputs(const Call& call) {
  return std::all_of(call.arguments.begin(), call.arguments.end(),
                     [](const auto& argument) { return finite(argument.second); });
}

}  // namespace

JudgedCall judge(const Call& call, const oracle::operations::Profile& profile) {
  JudgedCall judged;
  try {
    const std::vector<Demand> demands = demands_of(call, profile);
    bool finite = true;
    for (const Demand& demand : demands) {
      Judge judge(demand);
      judged.results.push_back(judge.judged());
      finite = finite && judge.finite();
    }
    judged.made_non_finite = !finite && has_finite_inputs(call);
    std::int64_t elements = 0, undecided = 0;
    for (const JudgedResult& each : judged.results) {
      elements += each.elements;
      undecided += each.undecided;
    }
    if (elements == 0) judged.status = JudgedCall::nothing_to_hold;
    if (elements > 0 && undecided == elements)
      throw NotJudged("every element is undecided: it may overflow, or be divided by 0");
  } catch (const NotJudged& reason) {
    const std::string why = reason.what();
    const bool says_which = why.find(call.full) != std::string::npos;
    judged = {JudgedCall::not_judged, says_which ? why : call.name + ": " + why, {}, false};
  } catch (const std::exception& problem) {
    judged = {JudgedCall::not_judged, call.full + ": " + problem.what(), {}, false};
  }
  return judged;
}

}  // namespace tally
