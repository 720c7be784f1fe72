// A bound rule that is evaluated once, and again where terms, alike addends or right sums are asked for.
#include "properties/judge/evaluation.hpp"

#include <algorithm>

#include "properties/lenses/value.hpp"

namespace tally {
namespace {

using oracle::Sources;

struct Term {
  double Sources::*source;
  double BoundTerms::*term;
};

constexpr std::array<Term, 4> split{{{&Sources::input, &BoundTerms::input},
                                     {&Sources::accumulation, &BoundTerms::accumulation},
                                     {&Sources::storage, &BoundTerms::storage},
                                     {&Sources::function, &BoundTerms::function}}};

/// Asked for bounds alone, where a source of error is none.
oracle::Declared asked_without(const oracle::Declared& declared, std::size_t source) {
  oracle::Asked rest = declared.asked;
  rest.sources.*split[source].source = 0;
  rest.bounds_only = true;
  return oracle::with(declared, rest);
}

/// The terms of a bound, by what is left of it without each source.
template <class Without>
BoundTerms terms_of(double bound, Without&& without) {
  BoundTerms terms;
  if (!(bound > 0) || !(bound < std::numeric_limits<double>::infinity())) return terms;
  for (std::size_t k = 0; k < split.size(); ++k) terms.*split[k].term = bound - without(k);
  terms.other = bound - terms.sum();
  return terms;
}

}  // namespace

const oracle::Expected& Evaluation::at(const std::string& output) {
  if (!expected_) expected_ = rule_(declared_);
  return expected_->at(output);
}

const oracle::Expected& Evaluation::counted(const std::string& output) {
  oracle::Asked all_of_it = declared_.asked;
  all_of_it.spread = oracle::Spread::counted;
  if (!counted_) counted_ = rule_(oracle::with(declared_, all_of_it));
  return counted_->at(output);
}

oracle::ExpectedTensors Evaluation::tried(const oracle::TriedOrder& order) {
  oracle::Asked values_of_the_rule = declared_.asked;
  values_of_the_rule.order = &order;
  values_of_the_rule.bounds_only = true;
  return rule_(oracle::with(declared_, values_of_the_rule));
}

const oracle::Expected& Evaluation::without(std::size_t source, const std::string& output) {
  auto& expected = without_[source];
  if (!expected) expected = rule_(asked_without(declared_, source));
  return expected->at(output);
}

BoundTerms Evaluation::terms(const std::string& output, Eigen::Index i) {
  return terms_of(at(output).e.data()[i], [&](std::size_t k) { return without(k, output).e.data()[i]; });
}

std::optional<BoundTerms> Evaluation::terms_by_row(const std::string& output, Eigen::Index row, Eigen::Index column) {
  const auto bound = [&](const oracle::Declared& declared) {
    const auto one = stretches_ ? stretches_(declared, output, row, 1) : std::nullopt;
    return one ? std::optional(one->e(0, column)) : std::nullopt;
  };
  const auto all = bound(declared_);
  if (!all) return {};
  return terms_of(*all, [&](std::size_t k) { return bound(asked_without(declared_, k)).value(); });
}

oracle::Expected Output::expected() const {
  const oracle::Expected& all = of.at(name);
  return count < 0 ? all : rows_of(all, first, count);
}

oracle::Expected Output::tried(const oracle::TriedOrder& order) const {
  const oracle::ExpectedTensors outputs = of.tried(order);
  return count < 0 ? outputs.at(name) : rows_of(outputs.at(name), first, count);
}

TensorCheck judge(const Place& place, const Output& output, const Tensor& got, bool split_bound) {
  const oracle::Expected& all = output.of.at(output.name);
  TensorCheck check =
      output.count < 0 ? judge(place, all, got) : judge(place, rows_of(all, output.first, output.count), got);
  if (!split_bound || check.worst_index.size() != got.shape.size()) return check;
  Eigen::Index i = 0;
  for (std::size_t k = 0; k < got.shape.size(); ++k) i = i * got.shape[k] + check.worst_index[k];
  if (check.bound > 0) check.terms = output.of.terms(output.name, output.first * all.e.cols() + i);
  return check;
}

Evaluation evaluation_of(const oracle::Declared& declared, OneOutput rule, Evaluation::Stretches stretches) {
  const auto one_output = [rule = std::move(rule)](const oracle::Declared& asked) {
    oracle::ExpectedTensors outputs;
    outputs.emplace("", rule(asked));
    return outputs;
  };
  return Evaluation(declared, one_output, std::move(stretches));
}

oracle::ExpectedTensors named(oracle::ExpectedForward forward) {
  oracle::ExpectedTensors outputs;
  outputs.emplace("y", std::move(forward.y));
  outputs.emplace("mean", std::move(forward.mean));
  outputs.emplace("var", std::move(forward.var));
  outputs.emplace("rstd", std::move(forward.rstd));
  outputs.emplace("lse", std::move(forward.lse));
  return outputs;
}

oracle::ExpectedTensors named(oracle::ExpectedBackward backward) {
  oracle::ExpectedTensors outputs = std::move(backward.parameters);
  outputs.emplace("dx", std::move(backward.dx));
  outputs.emplace("delta", std::move(backward.delta));
  for (std::size_t j = 0; j < backward.more_dx.size(); ++j)
    outputs.emplace("dx" + std::to_string(j + 1), std::move(backward.more_dx[j]));
  return outputs;
}

oracle::ExpectedTensors named(oracle::ExpectedLoss loss) {
  oracle::ExpectedTensors outputs;
  outputs.emplace("loss", std::move(loss.loss));
  outputs.emplace("dy", std::move(loss.dy));
  return outputs;
}

namespace {

/// Stored as the subject stores it.
Tensor stored_like(const Tensor& got, const oracle::Expected& values) {
  Tensor stored(got.dtype, got.shape);
  for (std::size_t i = 0; i < stored.elements(); ++i) stored.set(i, static_cast<double>(values.v.data()[i]));
  return stored;
}

}  // namespace

Leans leans_of(const Output& output, const oracle::Expected& expected, const Tensor& got,
               const std::vector<Direction>& directions) {
  Leans leans;
  for (const oracle::TriedOrder& order : oracle::tried_orders()) {
    for (const SpreadFinding& found : spread_tests(expected, stored_like(got, output.tried(order)), directions)) {
      leans[found.test] = std::max(leans[found.test], found.deviation);
    }
  }
  return leans;
}

}  // namespace tally
