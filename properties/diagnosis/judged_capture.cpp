// What `tally check` says of a recorded trace, and how far its recipe and its loop are from the full batch.
#include "properties/diagnosis/judged_capture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/exact/answer.hpp"
#include "properties/diagnosis/diagnose.hpp"
#include "properties/diagnosis/restatement.hpp"
#include "properties/diagnosis/settings.hpp"
#include "properties/judge/bound_terms.hpp"
#include "properties/judge/groups.hpp"
#include "properties/judge/lens.hpp"
#include "properties/judge/pieces.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"

namespace tally {
namespace {

/// Suspects of the rank that fails first, on its own part of the case.
std::vector<Suspicion> suspects_of_ranks(const Case& c, const Trace& trace, const std::vector<TensorCheck>& checks) {
  const std::size_t rank = rank_of_tap(first_failure(checks)->tap);
  const GenerationsOfTrace generations(c, trace);
  const std::size_t which = generations.with(first_failure(checks)->tap);
  const RanksOfTrace& ranks = generations.all[which];
  std::vector<TensorCheck> own;
  for (TensorCheck check : checks) {
    if (rank_of_tap(check.tap) != rank || generations.with(check.tap) != which) continue;
    check.tap = without_rank(check.tap);
    own.push_back(std::move(check));
  }
  return diagnose(ranks.parts[rank], ranks.traces[rank], own);
}

/// Causes: the restatements that pass, then the suspects of the first failure that say something else.
void find_causes(const Case& c, const Trace& trace, JudgedCapture& judged) {
  if (first_failure(judged.checks) == nullptr) return;
  if (in_ranks(c)) {
    judged.suspects = suspects_of_ranks(c, trace, judged.checks);
    return;
  }
  if (small_enough_to_restate(c, trace)) {
    judged.suspects = restated_causes(c, trace, judged.checks);
  } else {
    judged.notes.push_back(
        "causes were looked for in the first failing stage only: the capture is too large to be judged again under "
        "other recipes");
  }
  for (Suspicion& found : diagnose(c, trace, judged.checks)) {
    const bool named = std::any_of(judged.suspects.begin(), judged.suspects.end(),
                                   [&](const Suspicion& known) { return known.name == found.name; });
    if (!named) judged.suspects.push_back(std::move(found));
  }
  if (judged.suspects.empty() && !affordable(trace))
    judged.notes.push_back(
        "other options of the stage were not tried as causes: the capture is too large; one of fewer rows or windows "
        "may name a cause");
}

/// Two causes may explain the same bits: a recorded gradient holds a penalty of the loss, as if nothing decayed.
void put_first(const std::vector<std::string>& seen, std::vector<Suspicion>& suspects) {
  std::stable_partition(suspects.begin(), suspects.end(), [&](const Suspicion& suspect) {
    return std::find(seen.begin(), seen.end(), suspect.name) != seen.end();
  });
}

}  // namespace

JudgedCapture judged_capture(const Case& c, const Trace& trace, const CaptureOptions& options) {
  std::size_t bytes = 0;
  const auto told = [&](const std::string& tap, std::size_t more) {
    if (options.progress) options.progress(bytes += more, tap);
  };
  const Grouping grouping = trace.groups.empty() ? Grouping::inferred : Grouping::declared;
  const bool in_pieces = options.all_lenses && is_judged_in_pieces(c);
  const bool through_groups = options.all_lenses || !trace.groups.empty();  // what is fused is judged from the case on
  auto [checks, groups] = in_pieces        ? piecewise_lenses(c, trace, told)
                          : through_groups ? hard_lenses(c, trace, grouping, told)
                                           : GroupedChecks{local_lens(c, trace, told, true), {}};
  const std::string dead = dead_steps(c, trace, checks);
  if (!options.all_lenses) std::erase_if(checks, [](const TensorCheck& check) { return check.lens == "end_to_end"; });
  if (!in_pieces && !in_ranks(c)) split_bounds(c, trace, checks);
  JudgedCapture judged{std::move(checks), std::move(groups), {}, {}, dead};
  if (const std::string left = steps_not_taken(c, trace); !left.empty())
    judged.notes.push_back("not judged: " + left + ": every window overflowed and was skipped");
  name_places(c, judged.checks);
  if (options.all_lenses) find_causes(c, trace, judged);
  put_first(options.seen, judged.suspects);
  return judged;
}

namespace {

bool takes_batch_statistics(const Layer& layer) { return normalises_parts(layer); }

bool has_batch_statistics(const Case& c) {
  return std::any_of(c.model.layers.begin(), c.model.layers.end(), takes_batch_statistics);
}

bool is_opaque(const Case& c) {
  return std::any_of(c.model.layers.begin(), c.model.layers.end(),
                     [](const Layer& l) { return l.kind == kinds::opaque; });
}

/// The evaluation holds dozens of copies of every parameter, with tens of digits, and reads all of them for every row:
/// hundreds of megabytes and some seconds at these sizes.
bool is_too_large(const Case& c) {
  constexpr double most_parameters = 1 << 18, most_products = 1 << 22;
  double parameters = 0, rows = 0;
  for (const std::string& p : parameters_of(c.model)) parameters += static_cast<double>(c.tensors.at(p).elements());
  for (const std::int64_t size : c.windows.front()) rows += static_cast<double>(size);
  return parameters > most_parameters || parameters * rows > most_products;
}

std::string causes_of(const Case& c) {
  const bool several = c.windows.front().size() > 1;
  std::vector<std::string> causes;
  if (c.normalisation == Normalisation::sum)
    causes.push_back("normalisation sum adds the items' gradients where the full batch takes their mean");
  else if (c.normalisation != Normalisation::window_items && several)
    causes.push_back("normalisation " + std::string(name_of(c.normalisation)) +
                     " gives every micro-batch the same weight, not every item");
  if (has_batch_statistics(c) && several) causes.push_back("batch_norm takes its statistics from each micro-batch");
  std::string text;
  for (const std::string& cause : causes) text += (text.empty() ? "" : ", and ") + cause;
  return text;
}

std::string size_of_gap(double gap) {
  if (std::isinf(gap)) return "is not zero where the full batch's is";
  char text[64];
  std::snprintf(text, sizeof text, "differs from the full batch's by %.3g %% of its norm", gap * 100);
  return text;
}

/// The first window alone: no later one enters its gradient.
Case first_window_of(Case c) {
  c.windows.resize(1);
  return c;
}

}  // namespace

bool may_have_gap(const Case& c) { return !c.windows.empty() && !causes_of(c).empty(); }

CaptureGap gap_of_capture(const Case& c) {
  if (!may_have_gap(c)) return {0, ""};
  const std::string unknown = "not known, although " + causes_of(c);
  if (is_opaque(c)) return {std::nullopt, unknown + ": forward and backward are the capture's own"};
  if (is_too_large(c)) return {std::nullopt, unknown + ": the model is too large to evaluate it exactly"};
  try {
    const double gap = oracle::first_gradient_gap(first_window_of(c));
    if (gap == 0) return {0, ""};
    return {gap, "the first window's gradient " + size_of_gap(gap) + ", before any rounding: " + causes_of(c)};
  } catch (const oracle::NotCertified& problem) {
    return {std::nullopt, unknown + ": " + problem.what()};
  }
}

namespace {

/// Squared 2-norms.
struct Squares {
  double error = 0, stated = 0;
};

std::optional<double> relative_gap(const Squares& sums) {
  if (!(sums.stated > 0) || !std::isfinite(sums.error / sums.stated)) return std::nullopt;
  return std::sqrt(sums.error / sums.stated);
}

std::string last_micro_batch(const Case& c, int window) {
  return "w" + std::to_string(window) + "/m" + std::to_string(c.windows[static_cast<std::size_t>(window)].size() - 1);
}

std::optional<double> from_the_case_on(const Case& c, int window, const std::vector<TensorCheck>& checks) {
  for (const std::string& gradients :
       {"w" + std::to_string(window) + "/unscale/d.", last_micro_batch(c, window) + "/accumulate/buffer."}) {
    Squares sums;
    for (const TensorCheck& check : checks) {
      if (check.lens != "end_to_end" || check.status == Status::not_run || !check.tap.starts_with(gradients)) continue;
      sums.error += check.norm_error * check.norm_error;
      sums.stated += check.norm_expected * check.norm_expected;
    }
    if (const auto gap = relative_gap(sums)) return gap;
  }
  return std::nullopt;
}

/// got / expected of a tensor whose elements all have this ratio, to within its bounds.
std::optional<double> multiple_of(const TensorCheck& check) {
  if (check.status == Status::pass) return 1;
  if (check.status != Status::fail || check.expected == 0 || check.got == 0) return std::nullopt;
  const double multiple = check.got / check.expected, norm = check.norm_expected;
  const double rounding = check.norm_bound + std::fabs(check.bound / check.expected) * norm;
  if (!(std::fabs(check.norm_error - std::fabs(multiple - 1) * norm) <= rounding)) return std::nullopt;
  return multiple;
}

/// What the micro-batch's loss was multiplied by over what it should have been; 1 of a loss that was not judged.
std::optional<double> multiple_of_loss(int window, int micro_batch, const std::vector<TensorCheck>& checks) {
  for (const char* tensor : {"in.factor", "d.y"}) {
    const std::string tap = TapName{window, micro_batch, "loss", tensor}.text();
    for (const TensorCheck& check : checks)
      if (check.tap == tap && check.lens != "end_to_end") return multiple_of(check);
  }
  return 1;
}

std::optional<double> of_given_gradients(const Case& c, int window, const Trace& trace,
                                         const std::vector<TensorCheck>& checks) {
  const int count = static_cast<int>(c.windows[static_cast<std::size_t>(window)].size());
  std::vector<double> multiples;
  for (int k = 0; k < count; ++k) {
    const auto multiple = multiple_of_loss(window, k, checks);
    if (!multiple) return std::nullopt;
    multiples.push_back(*multiple);
  }
  Squares sums;
  for (const std::string& p : parameters_of(c.model)) {
    const Tensor* left = trace.find(TapName{window, count - 1, "accumulate", "buffer." + p}.view());
    if (left == nullptr) return std::nullopt;
    std::vector<double> stated(left->elements());
    for (int k = 0; k < count; ++k) {
      const Tensor* given = trace.find(TapName{window, k, "backward", "d." + p}.view());
      if (given == nullptr || given->elements() != stated.size()) return std::nullopt;
      const double multiple = multiples[static_cast<std::size_t>(k)];
      for (std::size_t i = 0; i < stated.size(); ++i) stated[i] += given->value(i) / multiple;
    }
    for (std::size_t i = 0; i < stated.size(); ++i) {
      sums.error += std::pow(left->value(i) - stated[i], 2);
      sums.stated += std::pow(stated[i], 2);
    }
  }
  return relative_gap(sums);
}

}  // namespace

std::optional<LoopGap> loop_gap(const Case& c, const Trace& trace, const std::vector<TensorCheck>& checks) {
  const TensorCheck* failure = first_failure(checks);
  if (failure == nullptr || in_ranks(c)) return std::nullopt;
  const int window = tap_name_of(failure->tap).window;
  const auto gap =
      is_opaque(c.model) ? of_given_gradients(c, window, trace, checks) : from_the_case_on(c, window, checks);
  return gap ? std::optional(LoopGap{window, *gap}) : std::nullopt;
}

}  // namespace tally
