#include "properties/diagnosis/loop_gap.hpp"

#include <algorithm>
#include <cmath>

#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/compare/lens.hpp"

namespace tally {
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

/// got / expected of a tensor that is all of it that multiple, to within its bounds.
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
