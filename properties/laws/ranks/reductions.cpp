// Laws of how often ranks add up: once a window, or every micro-batch.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/tolerance/format.hpp"
#include "properties/laws/ranks/plans_of_ranks.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: ranks that add up once a window send as many bytes for it as their algorithm needs for one sum, however many
// micro-batches they have; ranks that share the optimizer hand over their pieces once, and none of a window that was
// skipped, ranks that share the parameters twice for every micro-batch; the first rank its running values, once.
//   What no_sync saves is this, and nothing else: numbers are the same without it.
namespace tally::one_reduction_a_window_law {
namespace {

void shape(Plan& plan) {
  at_least_micro_batches(plan, 2);
  dealt_to_ranks_by_any_normalisation(plan);
}

/// Elements that all buckets hold together, padding included: a bucket begins with a parameter whose place is 0.
std::uint64_t elements_of_buckets(const Case& c) {
  std::int64_t all = 0;
  for (const std::string& p : parameters_of(c.model))
    if (const PlaceInBucket place = place_in_bucket(c, p); place.first == 0)
      all += place.chunk * static_cast<std::int64_t>(sharers_of(c));
  return static_cast<std::uint64_t>(all);
}

std::uint64_t sent_by_halving(bool scatters, std::uint64_t rank, std::uint64_t ranks) {
  const std::uint64_t power = std::bit_floor(ranks), too_many = ranks - power;
  if (rank < 2 * too_many && rank % 2 == 0) return ranks;
  // All chunks but those that a rank keeps leave it once, and its own come back to each whose they are not.
  const bool folded = rank < 2 * too_many;
  const std::uint64_t kept = folded ? 2 : 1, number = folded ? rank / 2 : rank - too_many;
  std::uint64_t handed_back = 0;
  for (std::uint64_t block = 1; block < power; block *= 2) {
    const std::uint64_t begin = number / block * block, end = begin + block;
    handed_back += block + std::min(end, too_many) - std::min(begin, too_many);
  }
  return ranks - kept + (scatters ? 0 : handed_back) + (!folded ? 0 : scatters ? 1 : ranks);
}

std::uint64_t sent_in_a_tree(std::uint64_t rank, std::uint64_t ranks) {
  const std::uint64_t children = std::min<std::uint64_t>(2, ranks - std::min(ranks, 2 * rank + 1));
  return (children + (rank > 0 ? 1 : 0)) * ranks;
}

/// How many times its bucket a rank sends in one sum over R ranks, times R; where each keeps its chunk alone, the last
/// half of a ring falls away, and the first rank of a sum in order hands out chunks.
std::uint64_t shares_sent(const std::string& algorithm, bool scatters, std::uint64_t rank, std::uint64_t ranks) {
  if (algorithm == "ring" || algorithm == "all_to_all") return (scatters ? 1 : 2) * (ranks - 1);
  if (algorithm == "in_order" || !declares_order(algorithm))
    return rank == 0 ? (ranks - 1) * (scatters ? 1 : ranks) : ranks;
  if (algorithm == "recursive_halving") return sent_by_halving(scatters, rank, ranks);
  if (algorithm == "tree") return sent_in_a_tree(rank, ranks);
  const std::uint64_t power = std::bit_floor(ranks), too_many = ranks - power;
  const auto steps = static_cast<std::uint64_t>(std::countr_zero(power));
  if (rank >= 2 * too_many) return steps * ranks;
  return rank % 2 == 0 ? ranks : (steps + 1) * ranks;
}

std::uint64_t expected_sums(const Case& c, std::size_t window, std::size_t rank) {
  const std::size_t sums = communicates_each(c) ? micro_steps_of(c, window) : 1;
  const std::string& algorithm = rank_word(c, "reduce.algorithm");
  const std::uint64_t share = elements_of_buckets(c) * size_of(wire_of(c)) / sharers_of(c);  // a sharer's chunks
  const std::uint64_t behind_each =
      sums * share * shares_sent(algorithm, shards_gradients(c), rank % sharers_of(c), sharers_of(c));
  if (replicas_of(c) == 1) return behind_each;
  return behind_each + share / replicas_of(c) * shares_sent(algorithm, false, rank / sharers_of(c), replicas_of(c));
}

/// What a rank hands to all others of its own pieces, in elements.
std::uint64_t own_pieces_sent(const Case& c, std::size_t rank) {
  std::uint64_t own = 0;
  for (const std::string& p : parameters_of(c.model)) own += static_cast<std::uint64_t>(piece_of(c, p, rank).count);
  return own * (sharers_of(c) - 1);
}

std::uint64_t expected_gathering(const Case& c, const Trace& trace, int window, std::size_t rank) {
  const Tensor* found = trace.find(TapView{window, -1, "agree", "found", static_cast<int>(rank)});
  if (!shards_optimizer(c) || shards_parameters(c) || (found != nullptr && found->integer(0) != 0)) return 0;
  return own_pieces_sent(c, rank) * size_of(c.precision.master);
}

/// Before forward and before backward of every micro-batch.
std::uint64_t expected_parameters(const Case& c, std::size_t window, std::size_t rank) {
  if (!shards_parameters(c)) return 0;
  return 2 * micro_steps_of(c, window) * own_pieces_sent(c, rank) * size_of(c.precision.storage);
}

/// The bytes that the first rank sends of its running values, to every other.
std::uint64_t expected_running(const Case& c, std::size_t rank) {
  std::uint64_t own = 0;
  for (const Layer& layer : c.model.layers)
    if (rank == 0 && takes_first_running(c, layer)) own += 2 * c.tensors.at(layer.name + ".running_mean").elements();
  return own * (ranks_of(c) - 1) * size_of(c.precision.master);
}

void hold(Outcome& outcome, std::uint64_t found, std::uint64_t expected, const std::string& stage, std::size_t rank,
          int window) {
  require(outcome, found == expected, "w" + std::to_string(window) + "/" + stage, stage,
          "rank " + std::to_string(rank) + " sends " + std::to_string(found) + " bytes in window " +
              std::to_string(window) + " where its design takes " + std::to_string(expected));
}

Outcome holds(const Case& whole, const RunOptions& subject) {
  if (!has_ranks(whole)) return not_for(needs_ranks);
  CheckedRun first = run_and_check(whole, subject);
  if (first.outcome.status == Status::not_run) return first.outcome;
  const TrafficScope scope;
  run(whole, subject);
  if (scope.ranks().empty()) return not_for("ranks of this process, whose messages are counted");
  std::optional<Case> generation;
  for (int window = 0; window < static_cast<int>(whole.windows.size()); ++window) {
    const auto at = static_cast<std::size_t>(window);
    if (!generation || !trains_window(*generation, at)) generation = generation_of(whole, generation_with(whole, at));
    const Case& c = *generation;
    for (std::size_t rank = 0; rank < ranks_of(c); ++rank) {
      const auto sent = [&](const char* stage) {  // by all stages of its model
        std::uint64_t bytes = 0;
        for (std::size_t i = 0; i < stages_of(c); ++i)
          bytes += bytes_sent(scope, rank * stages_of(c) + i, window, stage);
        return bytes;
      };
      hold(first.outcome, sent("reduce"), expected_sums(c, static_cast<std::size_t>(window), rank), "reduce", rank,
           window);
      hold(first.outcome, sent("gather_updated"), expected_gathering(c, first.trace, window, rank), "gather_updated",
           rank, window);
      hold(first.outcome, sent("all_gather"), expected_parameters(c, static_cast<std::size_t>(window), rank),
           "all_gather", rank, window);
      hold(first.outcome, sent("broadcast"), expected_running(c, rank), "running_stats", rank, window);
    }
  }
  return settled(std::move(first.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return all_bytes_sent(c, subject) !=
         all_bytes_sent(with_rank_option(c, "buckets.align", std::int64_t{1000}), subject);
}

const RegisterLaw registered{{
    .name = "one_reduction_a_window",
    .family = "ranks",
    .statement = "Ranks send as many bytes as their sums take: once a window, or once for each micro-batch.",
    .shape = shape,
    .holds = holds,
    .control = "buckets padded further take more bytes",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::one_reduction_a_window_law

// Law: whether ranks add up every micro-batch's gradient, their running totals, or their buffers once, the window ends
// with the same gradient.   A sum of sums is the sum, and a mean of R equal numbers is that number: to the bit where every
// partial sum is exact, else within the bounds of each.
//   Let q be the lowest bit of all that micro-batches bring to an element, and S the sum of magnitudes. Every partial
// sum, of R-th parts too, is a multiple of q / R and no larger than S, and so a number of p bits where R S <= 2^p q.
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
