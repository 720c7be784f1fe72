// What a walk holds: inputs against what was left, outputs against what is expected of them, the bits that are claimed,
// and their spread.
#include <algorithm>

#include "oracle/tolerance/rule.hpp"
#include "properties/judge/evaluation.hpp"
#include "properties/judge/lens.hpp"
#include "properties/judge/ordered_parts.hpp"
#include "properties/lenses/walk.hpp"
#include "reports/record/record.hpp"

namespace tally {
namespace {

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values(tensor.elements());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = tensor.value(i);
  return values;
}

/// How far the errors lie from their spread. Equal addends and the deviation of right sums, which excuse them, are
/// computed only if needed.
SpreadFinding spread_found(const Output& output, const Tensor& got, const std::vector<Direction>& directions) {
  if (output.count >= 0) return {};  // some rows of a tensor have no random part
  const SpreadFinding at_most = spread_of(output.of.at(output.name), got, directions);
  if (verdict_of(at_most.log10_chance) == SpreadVerdict::expected) return at_most;
  const oracle::Expected& counted = output.of.counted(output.name);
  const SpreadFinding found = spread_of(counted, got, directions);
  if (verdict_of(found.log10_chance) == SpreadVerdict::expected) return found;
  return spread_of(counted, got, directions, leans_of(output, counted, got, directions));
}

/// A large tensor is judged some rows at a time, which stay in the cache. Nothing where the rule needs all rows at
/// once, or where something is to be told of the tensor that only all of it shows. `split` asks for the terms of the
/// worst element's bound.
std::optional<TensorCheck> judged_in_stretches(const Place& here, const Output& output, const Tensor& got,
                                               const std::vector<Direction>& directions, bool split) {
  constexpr Eigen::Index elements_at_once = 1 << 13;
  const Eigen::Index columns = got.shape.empty() ? 1 : got.shape.back();
  const Eigen::Index rows = columns == 0 ? 0 : static_cast<Eigen::Index>(got.elements()) / columns;
  const Eigen::Index at_once = std::max<Eigen::Index>(1, elements_at_once / std::max<Eigen::Index>(1, columns));
  if (output.count >= 0 || rows == 0 || got.dtype == Dtype::i64 || got.dtype == Dtype::u8) return {};
  StretchJudge judge(here, got);
  StretchSpread spread(got, directions);
  const auto stretch = [&](std::size_t i) {
    const Eigen::Index first = static_cast<Eigen::Index>(i) * at_once, some = std::min(at_once, rows - first);
    auto next = output.of.stretch(output.name, first, some);
    if (next && next->v.size() != some * columns) next.reset();
    return next;
  };
  const auto hold = [&](const std::optional<oracle::Expected>& next) {
    if (!next) return false;
    judge.hold(*next);
    spread.add(*next);
    mapped_bytes_read(static_cast<std::size_t>(next->v.size()) * sizeof(float) * (2 + directions.size()));
    return true;
  };
  const auto stretches = static_cast<std::size_t>((rows + at_once - 1) / at_once);
  if (!taken_in_order(stretches, output.of.declared().asked.certified == nullptr ? threads_of_a_case() : 1, stretch,
                      hold))
    return {};
  TensorCheck check = judge.finish();
  check.spread = spread.found();
  const bool plain = check.status != Status::fail && verdict_of(check.spread.log10_chance) == SpreadVerdict::expected;
  if (!plain) return {};
  if (split && check.bound > 0) {
    Eigen::Index row = 0;
    for (std::size_t k = 0; k + 1 < got.shape.size(); ++k) row = row * got.shape[k] + check.worst_index[k];
    const Eigen::Index column = got.shape.empty() ? 0 : check.worst_index.back();
    if (const auto terms = output.of.terms_by_row(output.name, row, column)) check.terms = *terms;
  }
  return check;
}

/// Bits that the bound admits, and the claim does not. The bound's own figures tell more of another order of addition,
/// else the first wrong bit does.
TensorCheck of_wrong_bits(const Place& here, const oracle::Matrix<float>& predicted, const Tensor& got,
                          TensorCheck inside, const Bits& bits) {
  TensorCheck wrong = judge_bits(here, predicted, got);
  TensorCheck& kept = bits.inside_the_bound == FailureClass::order ? inside : wrong;
  kept.status = Status::fail;
  kept.failure = bits.inside_the_bound;
  kept.differing = wrong.over_bound;
  return std::move(kept);
}

}  // namespace

Value Walk::input(const std::string& stage, const std::string& tensor, const Value& producer) {
  if (!is_local() || (producer.known() && passes_over(stage, tensor))) return producer;
  const Tensor *read = require_tap(stage, tensor), *from = producer.bits();
  const Place here = place(stage, tensor);
  if (read == nullptr && from != nullptr && !is_given(c.model, stage)) unread.insert(here.tap);
  if (read == nullptr || from == nullptr) return read;
  if (!judges && kept != nullptr && wanted != nullptr && !wanted->contains(here.tap)) return read;
  TensorCheck check = bitwise_check(here.tap, stage, *from, *read);
  check.lens = "local";
  checks.push_back(std::move(check));
  if (kept != nullptr) keep(here, values_of(*from), *read);
  mapped_bytes_read(from->bytes.size());
  went_through(here, *read);
  return read;
}

Value Walk::told_input(const std::string& stage, const std::string& tensor, const Value& producer) {
  if (deviation != nullptr && tap(stage, tensor) != nullptr) output(stage, tensor, *producer.read());
  return input(stage, tensor, producer);
}

Value Walk::constant(const std::string& stage, const std::string& tensor, const oracle::Expected& value) {
  if (is_local()) return output(stage, tensor, value);
  return told_input(stage, tensor, value);
}

void Walk::went_through(const Place& here, const Tensor& tensor) {
  mapped_bytes_read(tensor.bytes.size());
  if (gone_through) gone_through(here.tap, tensor.bytes.size());
}

void Walk::keep(const Place& here, std::vector<double> values, const Tensor& got, std::vector<double> bound) {
  if (wanted == nullptr || wanted->contains(here.tap))
    kept->push_back({tap_name_of(here.tap), got.dtype, std::move(values), values_of(got), std::move(bound)});
}

void Walk::keep(const Place& here, const oracle::Expected& value, const Tensor& got) {
  const auto& v = value.v;
  const auto& e = value.e;
  keep(here, std::vector<double>(v.data(), v.data() + v.size()), got,
       std::vector<double>(e.data(), e.data() + e.size()));
}

Value Walk::output(const std::string& stage, const std::string& tensor, const oracle::Expected& value) {
  return output(stage, tensor, [&](const oracle::Declared&) { return value; });
}

/// True where the bits are the predicted ones. The bound is then evaluated only for an observer.
bool Walk::matches_bits(const Place& here, const Tensor& got, const Output& output, const oracle::Prediction& bits) {
  TensorCheck check = judge_bits(here, *bits, got);
  if (check.status == Status::fail) return false;
  if (JudgeObserver::present()) judge(here, output.expected(), got);
  checks.push_back(std::move(check));
  return true;
}

Value Walk::output(const std::string& stage, const std::string& tensor, const Output& output,
                   const std::vector<Direction>& directions, const Bits& bits) {
  if (is_local()) {
    const Tensor* got = require_tap(stage, tensor);
    const Place here = place(stage, tensor);
    if (got == nullptr || (wanted != nullptr && !wanted->contains(here.tap))) return got;
    hold_tap(here, *got, output, directions, bits);
    went_through(here, *got);
    return got;
  }
  const Tensor* stands = !judges && lens == Lens::group ? tap(stage, tensor) : nullptr;
  if (judges) hold_expected(stage, tensor, output);
  Value value = stands != nullptr ? Value(oracle::as_read(*stands)) : Value(seen(stage, tensor, output.expected()));
  put(stage, tensor, value);
  return value;
}

void Walk::hold_expected(const std::string& stage, const std::string& tensor, const Output& output) {
  const Place here = place(stage, tensor);
  const DecisionCount& behind = of_group ? *of_group : count;
  const Tensor* got = tap(stage, tensor);
  const bool split = wanted != nullptr && wanted->contains(here.tap);
  const bool judged = got != nullptr && (split || wanted == nullptr);
  split_ += split;
  checks.push_back(judged ? judge(here, output, *got, split) : not_run(here));
  if (got != nullptr) mapped_bytes_read(got->bytes.size());
  if (expected != nullptr) expected->insert_or_assign(here.tap, output.expected());
  checks.back().adopted_share = behind.share();
  if (behind.too_many() && checks.back().status == Status::pass) checks.back().status = Status::vacuous;
  refuted_ = refuted_ || (deviation != nullptr && checks.back().status == Status::fail);
}

void Walk::hold_tap(const Place& here, const Tensor& got, const Output& output,
                    const std::vector<Direction>& directions, const Bits& bits) {
  const oracle::Prediction predicted = bits.predict && wanted == nullptr ? bits.predict() : std::nullopt;
  if (!judges) {
    if (kept != nullptr) {
      keep(here, output.expected(), got);
    } else if (!predicted) {
      output.of.at(output.name);
    }
    return;
  }
  if (predicted && matches_bits(here, got, output, predicted)) {
    const std::vector<double> right(predicted->data(), predicted->data() + predicted->size());
    if (kept != nullptr) keep(here, right, got);
    return;
  }
  if (!predicted && kept == nullptr && !JudgeObserver::present()) {
    if (auto plain = judged_in_stretches(here, output, got, directions, wanted != nullptr)) {
      checks.push_back(*std::move(plain));
      return;
    }
  }
  TensorCheck check = judge(here, output, got, wanted != nullptr);
  if (predicted && check.status != Status::fail) check = of_wrong_bits(here, *predicted, got, std::move(check), bits);
  check.spread = spread_found(output, got, directions);
  if (check.status != Status::fail && verdict_of(check.spread.log10_chance) == SpreadVerdict::fail) {
    check.status = Status::fail;
    check.failure = FailureClass::precision;
  }
  checks.push_back(std::move(check));
  if (kept != nullptr) keep(here, output.expected(), got);
}

Value Walk::output(const std::string& stage, const std::string& tensor, OneOutput rule,
                   const std::vector<Direction>& directions, const Bits& bits, const SomeRows& some_rows) {
  Evaluation::Stretches stretches;
  if (some_rows)
    stretches = [&](const oracle::Declared& asked, const std::string&, Eigen::Index from, Eigen::Index count_of_rows) {
      return std::optional(some_rows(asked, from, count_of_rows));
    };
  Evaluation evaluation = evaluation_of(declared, std::move(rule), std::move(stretches));
  return output(stage, tensor, Output{evaluation}, directions, bits);
}

Value Walk::exact_output(const std::string& stage, const std::string& tensor,
                         const std::function<oracle::Matrix<float>()>& bits, const OneOutput& rule) {
  if (!is_local()) return output(stage, tensor, rule);
  const bool judged_alone = judges && wanted == nullptr && kept == nullptr && !JudgeObserver::present();
  if (!judged_alone) return output(stage, tensor, [&](const oracle::Declared&) { return oracle::known(bits()); });
  const Tensor* got = require_tap(stage, tensor);
  if (got == nullptr) return got;
  checks.push_back(judge_bits(place(stage, tensor), bits(), *got));
  went_through(place(stage, tensor), *got);
  return got;
}

}  // namespace tally
