// A drawn sample of a run's expectations, evaluated again in ball arithmetic.
#include "properties/judge/certified.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>
#include <vector>

#include "oracle/case/contract.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/exact/answer.hpp"
#include "oracle/exact/trajectory.hpp"
#include "oracle/graph/stage.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/bounded.hpp"
#include "oracle/tolerance/rule.hpp"
#include "properties/lenses/walk.hpp"

namespace tally {
namespace {

using oracle::Ball;
using oracle::Expected;

constexpr std::size_t stages_of_a_case = 6;
/// A stage is drawn where its tensor is no larger, a whole case where its matrix products take no more multiplications:
/// milliseconds each.
constexpr Eigen::Index largest_tensor = 2048;
constexpr std::int64_t most_products = 100000;

constexpr long double share_of_long_double = 1 - 1 / static_cast<long double>(oracle::pays);
constexpr long double of_the_certified = 0x1p-63L;

thread_local CertifiedSample* waiting = nullptr;

/// The numbers of SplitMix64: the same on every machine.
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

bool of_a_layer(const std::string& tap) {
  return tap.find("/forward/") != std::string::npos || tap.find("/backward/") != std::string::npos ||
         tap.find("/loss/") != std::string::npos;
}

std::set<std::string> drawn_taps(const Expectations& judged, std::uint64_t& state) {
  std::vector<std::string> all;
  for (const auto& [tap, expected] : judged)
    if (of_a_layer(tap) && expected.v.size() <= largest_tensor) all.push_back(tap);
  std::set<std::string> drawn;
  for (std::size_t i = 0; i < stages_of_a_case && !all.empty(); ++i) drawn.insert(all[next(state) % all.size()]);
  return drawn;
}

/// The drawn taps' expectations again, from the same bits, with exact values in balls.
void certify_stages(const Case& c, const Trace& trace, const Expectations& judged, std::uint64_t& state,
                    CertifiedRecord& record) {
  const std::set<std::string> drawn = drawn_taps(judged, state);
  if (drawn.empty()) return;
  oracle::CertifiedCount count;
  const JudgeObserver observer([&](const Place& place, const Expected& certified, const Tensor&) {
    compare_certified(place.tap, judged.at(place.tap), certified.v, record);
  });
  Walk walk(c, trace, Lens::local);
  walk.declared.asked.certified = &count;
  walk.wanted = &drawn;
  walk_all(walk);
  record.stages += count.evaluated;
  record.undecided += count.undecided;
}

bool is_small(const Case& c) {
  std::int64_t products = 0, rows = 0;
  for (const auto& window : c.windows)
    for (const std::int64_t size : window) rows += size;
  for (const std::string& p : parameters_of(c.model)) products += static_cast<std::int64_t>(c.tensors.at(p).elements());
  return products * rows <= most_products;
}

/// Every tensor of the exact trajectory that has a tap, by its name.
std::map<std::string, oracle::Matrix<Ball>> tensors_of(const Case& c,
                                                       const std::vector<oracle::WindowAnswer<Ball>>& answers) {
  std::map<std::string, oracle::Matrix<Ball>> all;
  const auto state = state_of(c.recipe.optimizer);
  for (std::size_t w = 0; w < answers.size(); ++w) {
    const auto name = [&](const std::string& stage, const std::string& tensor) {
      return TapName{static_cast<int>(w), -1, stage, tensor}.text();
    };
    const oracle::WindowAnswer<Ball>& answer = answers[w];
    for (const auto& [p, gradient] : answer.grad) all[name("unscale", "d." + p)] = gradient;
    all[name("norm", "norm")] = oracle::Matrix<Ball>::Constant(1, 1, answer.grad_norm);
    all[name("clip", "coefficient")] = oracle::Matrix<Ball>::Constant(1, 1, answer.clip_coefficient);
    for (const auto& [p, slot] : answer.after.slots) {
      all[name("optimizer", p)] = slot.parameter;
      for (std::size_t i = 0; i < state.size(); ++i) all[name("optimizer", state[i]->name + "." + p)] = slot.state[i];
    }
  }
  return all;
}

/// How far v may lie from the certified value: what the bound sets apart for long double.
long double allowed(double e, long double exact) {
  return share_of_long_double * e + of_the_certified * std::fabs(exact);
}

/// Whether an optimizer that steps by a sign took another sign where long double has 0 and the exact value is not 0, as
/// e^-256 in a sum of ones. That is inside its bound, as the sign is open; from there on the two trainings differ.
bool steps_otherwise(const Case& c, const Expectations& judged,
                     const std::map<std::string, oracle::Matrix<long double>>& certified) {
  if (!oracle::rules_of(c.recipe.optimizer).steps_by_sign()) return false;
  const auto parameters = parameters_of(c.model);
  return std::ranges::any_of(certified, [&](const auto& exact) {
    const TapName name = tap_name_of(exact.first);
    const auto expected = judged.find(exact.first);
    if (name.stage != StageName::optimizer || std::ranges::count(parameters, name.tensor) == 0 ||
        expected == judged.end())
      return false;
    for (Eigen::Index i = 0; i < exact.second.size(); ++i) {
      const double e = expected->second.e.data()[i];
      const long double off = std::fabs(expected->second.v.data()[i] - exact.second.data()[i]);
      if (off > allowed(e, exact.second.data()[i]) && off <= e) return true;
    }
    return false;
  });
}

/// The end-to-end lens' values against the case evaluated as `tally oracle` does. Nothing where a branch was taken over
/// from the trace, or a window was skipped: there the two follow different decisions.
void certify_expected(const Case& c, const ExpectedTraining& training, CertifiedRecord& record) {
  const char* const decides = is_pipelined(c) ? "agree" : "overflow_check";  // of a pipeline each stage finds its own
  for (std::size_t w = 0; w < c.windows.size(); ++w)
    for (const Trace* trace : training.traces) {
      const Tensor* found = trace->find(TapView{static_cast<int>(w), -1, decides, "found"});
      if (found != nullptr && found->integer(0) != 0) return;
    }
  if (!training.decided) return;
  const Expectations& judged = training.expected;
  std::map<std::string, oracle::Matrix<long double>> certified;
  const auto evaluate = [&](auto* trajectory) {
    certified.clear();
    for (const auto& [tap, tensor] : tensors_of(c, trajectory(c, oracle::Branch::accumulated)))
      if (tensor.size() > 0) certified.emplace(tap, oracle::nearest_of(tensor));
  };
  try {
    oracle::evaluate_until_decided([&] { evaluate(oracle::short_trajectory); },
                                   {std::begin(oracle::certifying_bits), std::end(oracle::certifying_bits)},
                                   [&] { evaluate(oracle::trajectory<Ball>); });
  } catch (const oracle::NotCertified&) {
    ++record.undecided;
    return;
  }
  // Where a number leaves the subject's range, the lens follows it there and the exact case goes on.
  const auto left_the_range = [](const auto& kept) { return !kept.second.v.allFinite(); };
  if (std::any_of(judged.begin(), judged.end(), left_the_range)) return;
  if (steps_otherwise(c, judged, certified)) {
    ++record.undecided;
    return;
  }
  for (const auto& [tap, values] : certified)
    if (const auto expected = judged.find(tap); expected != judged.end())
      compare_certified(tap + ", end to end", expected->second, values, record);
  ++record.cases;
}

void certify_case(const Case& c, const Trace& trace, CertifiedRecord& record) {
  ExpectedTraining training{{}, {&trace}};
  Walk walk(c, trace, Lens::end_to_end);
  walk.expected = &training.expected;
  walk_all(walk);
  training.decided = is_decided(walk);
  certify_expected(c, training, record);
}

std::string text_of(long double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.21Lg", x);
  return text;
}

}  // namespace

CertifiedSample::CertifiedSample(std::uint64_t draw)
    : draw_(draw), taken_(next(draw_) % one_in != 0), before_(std::exchange(waiting, this)) {}
CertifiedSample::~CertifiedSample() { waiting = before_; }

bool wants_expectations() { return waiting != nullptr && !waiting->taken_; }

void certify(const Case& c, const Trace& trace, const Expectations& judged) {
  CertifiedSample& sample = *waiting;
  sample.taken_ = true;
  certify_stages(c, trace, judged, sample.draw_, sample.record_);
  if (c.whole == nullptr && is_small(c)) certify_case(c, trace, sample.record_);
}

void certify_ranks(const Case& whole, const ExpectedTraining& first) {
  if (is_small(whole)) certify_expected(whole, first, waiting->record_);
}

void compare_certified(const std::string& tap, const oracle::Expected& judged,
                       const oracle::Matrix<long double>& certified, CertifiedRecord& record) {
  if (judged.v.size() != certified.size()) {
    record.disagreements.push_back(tap + ": of another size");
    return;
  }
  for (Eigen::Index i = 0; i < judged.v.size(); ++i) {
    const long double v = judged.v.data()[i], exact = certified.data()[i];
    const double e = judged.e.data()[i];
    if (!std::isfinite(v) || !(e < oracle::infinite)) continue;
    ++record.elements;
    const long double off = std::fabs(v - exact), most = allowed(e, exact);
    if (off <= most) continue;
    record.disagreements.push_back(tap + "[" + std::to_string(i) + "]: " + text_of(v) + " in long double, " +
                                   text_of(exact) + " certified: off by " + text_of(off) + ", " + text_of(most) +
                                   " allowed");
    return;
  }
}

}  // namespace tally
