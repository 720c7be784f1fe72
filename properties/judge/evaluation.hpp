// A bound rule that is evaluated once, and again where terms, alike addends or right sums are asked for.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "oracle/tolerance/expected.hpp"
#include "oracle/tolerance/summation.hpp"
#include "properties/judge/spread.hpp"
#include "properties/judge/verdict.hpp"

namespace tally {

// A rule of the oracle as a lens applies it: what it expects, and what the bound of one element is made of.

/// One call of a rule, with several outputs by name. The rule is called at the first question, and once more for each
/// source of error (oracle/tolerance/declared.hpp) at the first question for terms; what it refers to must last.
class Evaluation {
 public:
  using Rule = std::function<oracle::ExpectedTensors(const oracle::Declared& declared)>;
  /// What the rule says of some rows of an output, where they need none of the others; nothing where they do.
  using Stretches = std::function<std::optional<oracle::Expected>(
      const oracle::Declared& declared, const std::string& output, Eigen::Index first, Eigen::Index rows)>;
  /// `declared`, which must last, says what is asked of the rule at the first question.
  Evaluation(const oracle::Declared& declared, Rule rule, Stretches stretches = {})
      : declared_(declared), rule_(std::move(rule)), stretches_(std::move(stretches)) {}
  const oracle::Declared& declared() const { return declared_; }

  const oracle::Expected& at(const std::string& output);
  /// Rows first .. first + rows - 1 of at(), computed by themselves; nothing where that cannot be.
  std::optional<oracle::Expected> stretch(const std::string& output, Eigen::Index first, Eigen::Index rows) {
    return stretches_ ? stretches_(declared_, output, first, rows) : std::nullopt;
  }
  /// The same with addends that are alike counted, where at() leaves them out.
  const oracle::Expected& counted(const std::string& output);
  /// What a right kernel may come to that adds up in this order (oracle/tolerance/summation.hpp).
  oracle::ExpectedTensors tried(const oracle::TriedOrder& order);
  /// The terms of element i of an output, row-major. All zero where its bound is 0 or infinite.
  BoundTerms terms(const std::string& output, Eigen::Index i);
  /// The same by the element's row alone; nothing where the rule needs the others.
  std::optional<BoundTerms> terms_by_row(const std::string& output, Eigen::Index row, Eigen::Index column);

 private:
  const oracle::Expected& without(std::size_t source, const std::string& output);

  const oracle::Declared& declared_;
  Rule rule_;
  Stretches stretches_;
  std::optional<oracle::ExpectedTensors> expected_, counted_;
  std::array<std::optional<oracle::ExpectedTensors>, 4> without_;
};

/// Some rows of an output of an evaluation; all of them where `count` is negative.
struct Output {
  Evaluation& of;
  std::string name = "";
  Eigen::Index first = 0, count = -1;

  oracle::Expected expected() const;
  /// The same rows of what the evaluation comes to in this order.
  oracle::Expected tried(const oracle::TriedOrder& order) const;
};

/// The output against what the subject left; `split` asks for the terms of the worst element's bound.
TensorCheck judge(const Place& place, const Output& output, const Tensor& got, bool split);

/// A rule with one output, which has no name.
using OneOutput = std::function<oracle::Expected(const oracle::Declared& declared)>;
/// Some rows of it, by themselves.
using SomeRows =
    std::function<oracle::Expected(const oracle::Declared& declared, Eigen::Index first, Eigen::Index rows)>;
Evaluation evaluation_of(const oracle::Declared& declared, OneOutput rule, Evaluation::Stretches stretches = {});

/// "y", "mean", "var", "rstd", "lse".
oracle::ExpectedTensors named(oracle::ExpectedForward forward);
/// "dx", "dx1", "dx2", … of the inputs behind the first, "delta", and the parameters by short name.
oracle::ExpectedTensors named(oracle::ExpectedBackward backward);
/// "loss", "dy".
oracle::ExpectedTensors named(oracle::ExpectedLoss loss);

// Whether right sums of the same addends show what the statistical lens found: its model is then false of this data.

/// By how much each test of the lens finds a right kernel to deviate, the most in any of the orders that are tried
/// (oracle/tolerance/summation.hpp). Calls the rule once an order: for a finding that would count.
Leans leans_of(const Output& output, const oracle::Expected& expected, const Tensor& got,
               const std::vector<Direction>& directions);

}  // namespace tally
