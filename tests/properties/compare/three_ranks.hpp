// A case of three ranks, what is asked of every such case, and a trace of it with one element changed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "kernels/trace/trace_layout.hpp"
#include "kernels/training_step/run/run.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/plan.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/lens.hpp"
#include "properties/laws/judge.hpp"

namespace tally::three {

inline Plan small_plan() {
  Plan plan;
  plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{5}}}), layer("relu")};
  plan.loss = choice("loss", "cross_entropy");
  plan.windows = {{2, 1, 3, 2}, {1, 2}};
  plan.recipe.optimizer = choice("optimizer", "sgd", {{"momentum", Decimal{"0.5"}}});
  plan.recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0.25"}}});
  plan.recipe.weight_decay = choice("weight_decay", "none");
  plan.recipe.clip = choice("clip", "global_norm", {{"max_norm", Decimal{"0.125"}}});
  plan.recipe.loss_scale = choice("loss_scale", "dynamic", {{"initial", Decimal{"8"}}});
  return plan;
}

/// Three ranks, of which the last has nothing in the second window.
inline Case three_ranks(const std::string& algorithm = "ring") {
  Case c = case_of(small_plan());
  c.dealt = {{1, 2, 1}, {1, 1, 0}};
  return with_rank_option(std::move(c), "reduce.algorithm", algorithm);
}

/// The case is valid; its run passes, with every tap that it makes judged and laid out as the table of taps says.
inline void expect_judged(const Case& c, const std::string& what) {
  for (const CaseError& error : validate(c)) ADD_FAILURE() << what << ": " << error.path << " " << error.found;
  const Trace trace = run(c);
  const Outcome outcome = judge(c, trace);
  EXPECT_TRUE(trace.violations.empty()) << what;
  EXPECT_EQ(outcome.status, Status::pass) << what << ": " << outcome.message;
  EXPECT_FALSE(trace.taps().empty()) << what;
  for (const TensorCheck& check : outcome.checks) EXPECT_NE(check.status, Status::not_run) << what << ": " << check.tap;
  for (const Tap& tap : trace.taps()) {
    const auto layout = layout_of(c, tap.name);
    if (layout)
      EXPECT_EQ(layout->shape, tap.value.shape) << what << ": " << tap.name.text();
    else
      ADD_FAILURE() << what << " has no tap " << tap.name.text();
  }
}

/// Where the first error of a case stands.
inline std::string refused_at(const Case& c) {
  const auto errors = validate(c);
  return errors.empty() ? "nowhere" : errors.front().path;
}

inline std::vector<TensorCheck> checks_of(const Case& c, const Trace& trace) {
  return hard_lenses(c, trace, Grouping::declared).checks;
}

inline std::string first_failing(const std::vector<TensorCheck>& checks) {
  const TensorCheck* failure = first_failure(checks);
  return failure == nullptr ? "" : failure->tap;
}

/// The trace with one element of a tap changed.
inline Trace damaged(const Trace& trace, const std::string& tap, double factor) {
  Trace other;
  other.claims = trace.claims;
  other.case_hash = trace.case_hash;
  for (const Tap& each : trace.taps()) {
    Tensor value = each.value;
    if (each.name.text() == tap) value.set(0, value.value(0) * factor + 1);
    other.add(each.name, std::move(value));
  }
  return other;
}

inline void expect_every_tap_checked(const Case& c) {
  const Trace trace = run(c);
  const std::vector<TensorCheck> checks = checks_of(c, trace);
  EXPECT_FALSE(trace.taps().empty());
  for (const Tap& tap : trace.taps()) {
    const std::string name = tap.name.text();
    EXPECT_TRUE(std::ranges::any_of(checks, [&](const TensorCheck& check) { return check.tap == name; })) << name;
  }
}

inline void expect_survives_a_file(const Case& c, const std::string& file_name) {
  const Trace trace = run(c);
  const auto file = std::filesystem::path(::testing::TempDir()) / file_name;

  write_trace(trace, file);
  const Trace read = read_trace(file, c);

  EXPECT_EQ(read.taps().size(), trace.taps().size());
  EXPECT_EQ(first_failing(checks_of(c, read)), "");
}

}  // namespace tally::three
