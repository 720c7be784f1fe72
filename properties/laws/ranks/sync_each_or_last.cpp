// Law: whether ranks add up every micro-batch's gradient, their running totals, or their buffers once, the window ends
// with the same gradient.   A sum of sums is the sum, and a mean of R equal numbers is that number: to the bit where every
// partial sum is exact, else within the bounds of each.
//   Let q be the lowest bit of all that micro-batches bring to an element, and S the sum of magnitudes. Every partial
// sum, of R-th parts too, is a multiple of q / R and no larger than S, and so a number of p bits where R S <= 2^p q.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "oracle/case/pipeline.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/tolerance/format.hpp"
#include "properties/laws/ranks/dealt.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::sync_each_or_last_law {
namespace {

void shape(Plan& plan) {
  exact_arithmetic(plan);
  at_least_micro_batches(plan, 2);
  dealt_to_ranks(plan);
  divide_exactly(plan);
  communicate(plan, "micro_batch");  // without what is refused beside either word
  communicate(plan, "running_total");
  communicate(plan, "window");
}

/// Whether every word is allowed beside how the case divides.
bool takes_totals(const Case& c) {
  const std::string& divide = rank_word(c, "reduce.divide");
  return divide != "loss" && divide != "unscale";
}

/// The value of the lowest bit of a number that is not 0.
double lowest_bit(double value) {
  int exponent = 0;
  const auto whole = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(value), &exponent), 53));
  return std::ldexp(1.0, exponent - 53 + std::countr_zero(whole));
}

/// What all micro-batches of all ranks bring to one parameter's elements in a window.
struct Brought {
  std::vector<double> sum, lowest;

  void add(const Tensor& gradient) {
    sum.resize(gradient.elements());
    lowest.resize(gradient.elements(), std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < gradient.elements(); ++i) {
      const double value = gradient.value(i);
      sum[i] += std::fabs(value);
      if (value != 0) lowest[i] = std::min(lowest[i], lowest_bit(value));
    }
  }
  bool exact_in(const oracle::Format& format, double ranks) const {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      if (sum[i] == 0) continue;
      const bool short_enough = ranks * sum[i] <= std::ldexp(lowest[i], format.p);
      if (!short_enough || lowest[i] / ranks < std::ldexp(1.0, format.emin - format.p + 1)) return false;
    }
    return true;
  }
};

bool sums_are_exact(const Case& c, const Trace& trace) {
  std::map<std::pair<int, std::string>, Brought> all;
  for (const Tap& tap : trace.taps())
    if (tap.name.stage == "accumulate" && tap.name.tensor.starts_with("in.d."))
      all[{tap.name.window, tap.name.tensor}].add(tap.value);
  return !all.empty() && std::ranges::all_of(all, [&](const auto& each) {
    const auto exact_in = [&](Dtype format) {
      return each.second.exact_in(oracle::format_of(format), static_cast<double>(most_ranks_of(c)));
    };
    return exact_in(wire_of(c)) && exact_in(c.precision.accumulate);
  });
}

Outcome holds(const Case& c, const RunOptions& subject) {
  if (!has_ranks(c) || is_pipelined(c)) return not_for("several ranks, each of which has the whole model");
  const Case once = with_rank_option(c, "communicate", std::string("window"));
  CheckedRun first = run_and_check(once, subject);
  if (first.outcome.status == Status::not_run) return first.outcome;
  const bool exact = sums_are_exact(once, first.trace);
  for (const std::string word : {"micro_batch", "running_total"}) {
    if (word == "running_total" && !takes_totals(c)) continue;
    CheckedRun each = run_and_check(with_rank_option(c, "communicate", word), subject);
    if (exact)
      require_equal_bits(first.outcome, of_exact_sums(first.trace), of_exact_sums(each.trace), {"unscale", "optimizer"},
                         word + " left other bits than one sum a window, though every sum is exact");
    add(first.outcome, std::move(each.outcome));
  }
  return settled(std::move(first.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "sync_each_or_last",
    .family = "ranks",
    .statement = "Adding up over ranks behind every micro-batch or once a window leaves the same gradient.",
    .shape = shape,
    .holds = holds,
    .control = "one row of x changed gives other gradients",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::sync_each_or_last_law
