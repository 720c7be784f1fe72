// Tensors held against expectations and against bits, the profile of a failing one, and the order of checks.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "oracle/tolerance/predicted_bits.hpp"
#include "oracle/tolerance/rule.hpp"
#include "properties/judge/lens.hpp"
#include "properties/judge/ordered_parts.hpp"
#include "properties/judge/verdict.hpp"

namespace tally {
namespace {

thread_local const JudgeObserver* observer = nullptr;

TensorCheck of_other_shape(const Place& place, const Tensor& got) {
  TensorCheck check;
  check.lens = place.lens;
  check.tap = place.tap;
  check.stage = place.stage;
  check.status = Status::fail;
  check.failure = FailureClass::logic;
  check.elements = check.differing = check.over_bound = got.elements();
  check.worst_ratio = infinite;
  return check;
}

/// Same bits, ±0 as one value and NaN as one.
bool same(const Tensor& a, const Tensor& b, std::size_t i) {
  if (a.bits(i) == b.bits(i)) return true;
  if (is_integer(a.dtype)) return false;
  const double x = a.value(i), y = b.value(i);
  return x == y || (std::isnan(x) && std::isnan(y));
}

/// Whether the tensor holds these numbers and no others, ±0 apart.
bool holds(const Tensor& tensor, const oracle::Matrix<float>& bits) {
  if (is_integer(tensor.dtype) || static_cast<std::size_t>(bits.size()) != tensor.elements()) return false;
  if (bits.size() == 0) return true;
  const std::size_t bytes = tensor.elements() * sizeof(float);
  if (tensor.dtype == Dtype::fp32) return std::memcmp(tensor.bytes.data(), bits.data(), bytes) == 0;
  return std::memcmp(oracle::floats_of(tensor).data(), bits.data(), bytes) == 0;
}

}  // namespace

JudgeObserver::JudgeObserver(See see) : see_(std::move(see)), before_(observer) { observer = this; }
JudgeObserver::~JudgeObserver() { observer = before_; }
bool JudgeObserver::present() { return observer != nullptr; }

TensorCheck judge(const Place& place, const oracle::Expected& expected, const Tensor& got) {
  if (static_cast<std::size_t>(expected.v.size()) != got.elements()) return of_other_shape(place, got);
  if (observer != nullptr) observer->see_(place, expected, got);
  return judge_bits(place, expected, got);
}

TensorCheck judge_bits(const Place& place, const oracle::Expected& known, const Tensor& got) {
  if (static_cast<std::size_t>(known.v.size()) != got.elements()) return of_other_shape(place, got);
  TensorVerdict verdict(place, got);
  verdict.hold(known);
  TensorCheck check = verdict.finish();
  if (check.status == Status::fail) add_profile(check, known, got);
  return check;
}

TensorCheck judge_bits(const Place& place, const oracle::Matrix<float>& known, const Tensor& got) {
  if (holds(got, known)) {
    TensorVerdict verdict(place, got);
    if (verdict.hold_equal(known)) return verdict.finish();
  }
  return judge_bits(place, oracle::known(known), got);
}

struct StretchJudge::Held {
  TensorVerdict verdict;
};

StretchJudge::StretchJudge(const Place& place, const Tensor& got)
    : held_(std::make_unique<Held>(Held{TensorVerdict(place, got)})) {}
StretchJudge::~StretchJudge() = default;
void StretchJudge::hold(const oracle::Expected& next) { held_->verdict.hold(next); }
TensorCheck StretchJudge::finish() { return held_->verdict.finish(); }

TensorCheck not_run(const Place& place) {
  TensorCheck check;
  check.lens = place.lens;
  check.tap = place.tap;
  check.stage = place.stage;
  check.status = Status::not_run;
  return check;
}

TensorCheck bitwise_check(const std::string& tap, const std::string& stage, const Tensor& expected, const Tensor& got) {
  const Place place{"bitwise", tap, stage};
  if (expected.dtype != got.dtype || expected.shape != got.shape) return of_other_shape(place, got);
  TensorCheck check = not_run(place);
  check.status = Status::pass;
  check.elements = got.elements();
  check.zero_signal = false;
  if (expected == got) return check;
  for (std::size_t i = 0; i < got.elements(); ++i) {
    if (same(expected, got, i)) continue;
    if (check.differing++ > 0) continue;
    check.worst_index = index_in(i, got.shape);
    check.expected = expected.value(i);
    check.got = got.value(i);
    check.error = std::fabs(check.got - check.expected);
  }
  if (check.differing == 0) return check;
  check.over_bound = check.differing;
  check.worst_ratio = infinite;
  check.status = Status::fail;
  check.failure = FailureClass::logic;
  return check;
}

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

std::vector<TensorCheck> in_order(const Trace& trace, std::vector<TensorCheck> checks) {
  std::vector<std::size_t> key(checks.size()), order(checks.size());
  std::size_t last = 0;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const auto name = tap_view_of(checks[i].tap);
    key[i] = last = name ? trace.place_of(*name).value_or(last) : last;
  }
  if (std::ranges::is_sorted(key)) return checks;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
  std::vector<TensorCheck> sorted;
  sorted.reserve(checks.size());
  for (const std::size_t i : order) sorted.push_back(std::move(checks[i]));
  return sorted;
}

int threads_of_a_case() { return oracle::threads_of_rules(); }
void set_threads_of_a_case(int threads) { oracle::set_threads_of_rules(threads); }

}  // namespace tally
