#include "properties/compare/judge.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "oracle/tolerance/as_written.hpp"
#include "properties/compare/element_kinds.hpp"
#include "properties/compare/lens.hpp"
#include "properties/compare/profile.hpp"
#include "properties/compare/tensor_rows.hpp"
#include "properties/compare/tensor_verdict.hpp"

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
  if (same_bits(expected, got)) return check;
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

}  // namespace tally
