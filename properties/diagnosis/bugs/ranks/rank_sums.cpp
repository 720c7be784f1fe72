// Bugs of the sum over ranks: whose numbers it holds, and by what it was divided once more.
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/graph/stage.hpp"
#include "oracle/window/rank_stages.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/judge/ranks/ranks_of_trace.hpp"

namespace tally::rank_sums_bug {
namespace {

std::size_t ranks(const Evidence& evidence) { return ranks_of(whole_of(evidence.c)); }

Values numbers_of(const Tensor& tensor) {
  Values numbers(tensor.elements());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = tensor.value(i);
  return numbers;
}

/// The parameter of a sum over several ranks, all of them; empty for any other tensor.
std::string summed_parameter(const Evidence& evidence, const HeldTensor& held) {
  const bool over_all = held.name.stage == StageName::reduce && ranks(evidence) > 1 && replicas_of(evidence.c) == 1;
  return over_all ? parameter_in(evidence, held, "reduced.") : "";
}

/// What rank `from` handed over, as it travels.
std::optional<Values> share(const Evidence& evidence, const HeldTensor& held, std::size_t from) {
  const std::string p = summed_parameter(evidence, held);
  const auto left = [&](const std::string& tensor) {
    return handed_over(evidence.trace, ranks(evidence), from, held.name.window, held.name.micro_batch, "reduce",
                       tensor);
  };
  const Tensor* wire = left("wire." + p);
  const Tensor* found = wire != nullptr ? wire : left(handed_prefix(evidence.c, held.name.micro_batch) + p);
  return found == nullptr ? std::nullopt : std::optional(numbers_of(*found));
}

/// A tap of a rank's micro-batch k; of the last where k is below 0.
std::optional<Values> of_micro_batch(const Evidence& evidence, const HeldTensor& held, std::size_t rank, int k,
                                     const std::string& tensor) {
  const Case& whole = whole_of(evidence.c);
  const auto window = static_cast<std::size_t>(held.name.window);
  const int count = static_cast<int>(micro_batches_of(whole, window, rank));
  const TapView name{held.name.window, k < 0 ? count - 1 : k, "accumulate", tensor, static_cast<int>(rank)};
  const Tensor* found = evidence.trace.whole == nullptr ? nullptr : evidence.trace.whole->find(name);
  return found == nullptr || count == 0 ? std::nullopt : std::optional(numbers_of(*found));
}

void add_to(Values& sum, const Values& more, double factor = 1) {
  for (std::size_t i = 0; i < sum.size() && i < more.size(); ++i) sum[i] += factor * more[i];
}

/// A sum as it leaves the wire.
double as_kept(const Evidence& evidence, const HeldTensor& held, double sum) {
  return rounded_to(held.dtype, rounded_to(wire_of(evidence.c), sum));
}

/// Sums over ranks by whatever each brings, rounded once; nothing where one brings nothing that is known.
template <class Share>
std::optional<Values> summed(const Evidence& evidence, const HeldTensor& held, Share share_of) {
  Values sum(held.expected.size());
  for (std::size_t rank = 0; rank < ranks(evidence); ++rank) {
    const std::optional<Values> part = share_of(rank);
    if (!part) return std::nullopt;
    add_to(sum, *part);
  }
  for (double& each : sum) each = as_kept(evidence, held, each);
  return sum;
}

// The sum is divided by the ranks, though every loss was divided by all items.
namespace divided_by_ranks {

/// Where the sum is meant to be divided, the loss lacks the ranks that are taken out again.
bool is_factor_of_a_mean(const Evidence& evidence, const HeldTensor& held) {
  return held.name.stage == StageName::loss && held.name.tensor == "in.factor" && ranks(evidence) > 1 &&
         oracle::rank_division(evidence.c).around_the_sum();
}

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (summed_parameter(evidence, held).empty() && !is_factor_of_a_mean(evidence, held)) return std::nullopt;
  return times(held.expected, 1 / static_cast<double>(ranks(evidence)));
}

const RegisterBug registered{{
    .name = "mean-of-a-normalised-sum",
    .stages = {"loss", "reduce"},
    .sentence = "the sum over ranks is divided by their number, though every loss was divided by all items",
    .formula = "G / R",
    .remedy = "divide once: by all ranks' items, with a sum over ranks, or by the rank's own with an average",
    .left = left,
}};

}  // namespace divided_by_ranks

// The average only adds.
namespace divided_by_none {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (summed_parameter(evidence, held).empty() || !oracle::rank_division(evidence.c).around_the_sum())
    return std::nullopt;
  return times(held.expected, static_cast<double>(ranks(evidence)));
}

const RegisterBug registered{{
    .name = "average-is-a-sum",
    .stages = {"reduce"},
    .sentence = "the sum over ranks is not divided by their number, or was made twice",
    .formula = "R G",
    .remedy = "divide the sum over ranks by their number once: `dist.all_reduce(g); g /= dist.get_world_size()`",
    .left = left,
}};

}  // namespace divided_by_none

// The average divides by the elements that travel.
namespace divided_by_elements {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (summed_parameter(evidence, held).empty()) return std::nullopt;
  std::size_t elements = 0;
  for (const std::string& p : parameters_of(evidence.c.model)) elements += evidence.c.tensors.at(p).elements();
  return times(held.expected, static_cast<double>(ranks(evidence)) / static_cast<double>(elements));
}

const RegisterBug registered{{
    .name = "average-divides-by-elements",
    .stages = {"reduce"},
    .sentence = "the average over ranks divides by the number of elements sent, not of ranks",
    .formula = "R G / elements",
    .remedy = "divide the sum over ranks by their number, `dist.get_world_size()`, not by its elements",
    .left = left,
}};

}  // namespace divided_by_elements

/// The rank whose numbers the rank behind this one has where the sum should stand; nothing where they are its own,
/// nobody's, or not known.
std::optional<std::size_t> whose_another_has(const Evidence& evidence, const HeldTensor& held) {
  const std::size_t other = (evidence.c.rank + 1) % ranks(evidence);
  const Tensor* theirs = handed_over(evidence.trace, ranks(evidence), other, held.name.window, held.name.micro_batch,
                                     "reduce", "reduced." + summed_parameter(evidence, held));
  if (theirs == nullptr) return std::nullopt;
  const auto is_theirs = [&](std::size_t rank) { return share(evidence, held, rank) == numbers_of(*theirs); };
  for (std::size_t rank = 0; rank < ranks(evidence) && !is_theirs(other); ++rank)
    if (is_theirs(rank)) return rank;
  return std::nullopt;
}

// All hold what one of them had.
namespace one_for_all {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (summed_parameter(evidence, held).empty()) return std::nullopt;
  const auto whose = whose_another_has(evidence, held);
  return whose ? share(evidence, held, *whose) : std::nullopt;
}

const RegisterBug registered{{
    .name = "first-rank-broadcast",
    .stages = {"reduce"},
    .sentence = "gradients were not summed over ranks: all ranks hold those of one, as after a broadcast",
    .formula = "x_s",
    .remedy = "sum the gradients with `dist.all_reduce` in place of a broadcast",
    .left = left,
}};

}  // namespace one_for_all

// Each rank keeps what it had: nothing was summed.
namespace own_alone {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = summed_parameter(evidence, held);
  if (parameter.empty()) return std::nullopt;
  const Case& whole = whole_of(evidence.c);
  const std::vector<std::string> all = parameters_of(whole.model);
  const bool backwards = rank_word(whole, "buckets.order") == "reverse";
  bool in_last = false;  // a bucket begins with a parameter whose first element is its own
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string& p = all[backwards ? all.size() - 1 - i : i];
    if (place_in_bucket(whole, p).first == 0) in_last = false;
    in_last = in_last || p == parameter;
  }
  return in_last && !whose_another_has(evidence, held) ? share(evidence, held, evidence.c.rank) : std::nullopt;
}

const RegisterBug registered{{
    .name = "last-bucket-not-flushed",
    .stages = {"reduce"},
    .sentence = "some gradients were not summed over ranks, as when the last bucket is not sent",
    .formula = "x_r",
    .remedy = "wait until the last bucket is sent before the step reads its gradients",
    .left = left,
}};

}  // namespace own_alone

// The sum was made behind the first micro-batch; each rank adds the rest of its own.
namespace first_micro_batch {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = summed_parameter(evidence, held), buffer = "buffer." + parameter;
  if (parameter.empty()) return std::nullopt;
  const auto behind_first = [&](std::size_t rank) {
    const auto found = of_micro_batch(evidence, held, rank, 0, buffer);
    return found ? found : share(evidence, held, rank);  // a rank without a micro-batch
  };
  auto sum = summed(evidence, held, behind_first);
  const auto own = share(evidence, held, evidence.c.rank), first = behind_first(evidence.c.rank);
  if (!sum || !own || !first) return std::nullopt;
  add_to(*sum, *own);
  add_to(*sum, *first, -1);
  for (double& each : *sum) each = as_kept(evidence, held, each);
  return sum;
}

const RegisterBug registered{{
    .name = "reduced-in-the-first-micro-batch",
    .stages = {"reduce"},
    .sentence = "gradients were summed over ranks after the first micro-batch; each rank adds only its own rest",
    .formula = "sum_r s_r1 + sum_k>1 s_rk",
    .remedy = "sum over ranks after the window's last micro-batch: `with model.no_sync():` around all others",
    .left = left,
}};

}  // namespace first_micro_batch

// The last micro-batch's gradients travel in the buffers' place.
namespace last_gradients {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const std::string parameter = summed_parameter(evidence, held);
  if (parameter.empty()) return std::nullopt;
  return summed(evidence, held, [&](std::size_t rank) {
    const auto found = of_micro_batch(evidence, held, rank, -1, "in.d." + parameter);
    return found ? found : share(evidence, held, rank);
  });
}

const RegisterBug registered{{
    .name = "stale-narrow-gradients-reduced",
    .stages = {"reduce"},
    .sentence = "the last micro-batch's gradients were summed over ranks, not the accumulated ones",
    .formula = "sum_r s_rK",
    .remedy = "sum the accumulated gradients over ranks, not the last micro-batch's",
    .left = left,
}};

}  // namespace last_gradients

// One rank's numbers are missing, or count twice.
namespace one_share {

Hypothesis with_share(const Evidence& evidence, std::size_t rank, double factor) {
  Hypothesis way;
  for (const HeldTensor& held : evidence.held) {
    const auto part = summed_parameter(evidence, held).empty() ? std::nullopt : share(evidence, held, rank);
    std::optional<Values>& left = way.left.emplace_back();
    if (!part) continue;
    left = held.expected;
    add_to(*left, *part, factor);
  }
  const std::string number = std::to_string(rank);
  way.sentence = factor < 0 ? "the sum over ranks lacks what rank " + number + " contributed"
                            : "the sum over ranks counts twice what rank " + number + " contributed";
  way.formula = (factor < 0 ? "G - x_" : "G + x_") + number;
  return way;
}

std::vector<Hypothesis> ways(const Evidence& evidence) {
  std::vector<Hypothesis> all;
  for (const double factor : {-1.0, 1.0})
    for (std::size_t rank = 0; rank < ranks(evidence) && ranks(evidence) > 1; ++rank)
      all.push_back(with_share(evidence, rank, factor));
  return all;
}

const RegisterBug registered{{
    .name = "one-rank-miscounted",
    .stages = {"reduce"},
    .sentence = "the sum over ranks lacks one rank's gradients, or counts them twice",
    .formula = "G - x_r, G + x_r",
    .remedy = "let every rank take part in every sum once",
    .hypotheses = ways,
}};

}  // namespace one_share

}  // namespace
}  // namespace tally::rank_sums_bug
