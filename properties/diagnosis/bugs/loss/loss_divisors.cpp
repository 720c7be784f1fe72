// Bugs of loss: what the sum is divided by.
#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/exact/exact.hpp"
#include "properties/diagnosis/bug.hpp"

namespace tally::loss_divisors_bug {
namespace {

using Divisor = std::function<long double(int window, int micro_batch)>;
using Ways = std::vector<Restated>;

/// A window's numbers, as a divisor counts them.
struct Counts {
  long double micro_batches, configured, items;
};

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Counts counts_of(const Case& c, int window) {
  return {static_cast<long double>(c.windows[at(window)].size()), static_cast<long double>(c.windows.front().size()),
          oracle::window_items<long double>(c, at(window))};
}

long double items_of(const Case& c, int window, int micro_batch) {
  return oracle::micro_batch_items<long double>(c, at(window), at(micro_batch));
}

/// Nothing where the claims take the divisor apart.
Ways divided_by(const Trace& trace, Divisor divisor, int changed = 1) {
  if (trace.claims.divide == "window") return {};
  Restated way;
  way.deviation.divisor = std::move(divisor);
  way.changed = changed;
  return {way};
}

Ways divided_by_counts(const Case& c, const Trace& trace, long double (*divisor)(const Counts& n), int changed) {
  return divided_by(
      trace, [&c, divisor](int w, int) { return divisor(counts_of(c, w)); }, changed);
}

Ways normalised_as(const Case& c, Normalisation normalisation, int changed = 1) {
  if (c.normalisation == normalisation) return {};
  Restated way;
  way.change = [normalisation](Case& other) { other.normalisation = normalisation; };
  way.changed = changed;
  return {way};
}

// A short window is divided by the K of the others.
namespace configured_k {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  const double own = evidence.micro_batches(held.name.window), configured = evidence.micro_batches(0);
  return times(held.expected, own / configured);
}

bool of_one_length(const Case& c) {
  const auto longer = [&](const auto& window) { return window.size() != c.windows.front().size(); };
  return std::none_of(c.windows.begin(), c.windows.end(), longer);
}

Ways restated(const Case& c, const Trace& trace) {
  if (of_one_length(c)) return {};
  Ways ways = normalised_as(c, Normalisation::mean_of_means_configured, 2);
  for (Restated& way : ways) way.formula = "c = S / (K n_k) with the first window's K";
  for (Restated& way : divided_by_counts(
           c, trace, [](const Counts& n) { return n.items * n.configured / n.micro_batches; }, 3)) {
    way.formula = "c = S r / (K N) with the first window's K";
    ways.push_back(way);
  }
  return ways;
}

const RegisterBug registered{{
    .name = "last-window-wrong-divisor",
    .stages = {"loss"},
    .sentence = "a short window is divided by the K of the others, not by its own",
    .formula = "c = S r / (K N)",
    .remedy =
        "divide by the micro-batches that the window has, {K} here, or by its {N} items; or leave short windows out",
    .left = left,
    .restated = restated,
}};

}  // namespace configured_k

// The divisor counts one micro-batch too few.
namespace k_minus_one {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  const double k = evidence.micro_batches(held.name.window);
  if (k < 2) return std::nullopt;
  return times(held.expected, k / (k - 1));
}

Ways restated(const Case& c, const Trace& trace) {
  Ways ways = divided_by_counts(
      c, trace,
      [](const Counts& n) { return n.items * (n.micro_batches > 1 ? (n.micro_batches - 1) / n.micro_batches : 1); }, 3);
  const auto of_own = [&c](int w, int k) {
    const long double of = counts_of(c, w).micro_batches;
    return (of > 1 ? of - 1 : 1) * items_of(c, w, k);
  };
  for (Restated& way : divided_by(trace, of_own, 4)) ways.push_back(way);
  for (Restated& way : ways) way.formula = "c = S K / ((K - 1) N), or S / ((K - 1) n_k)";
  return ways;
}

const RegisterBug registered{{
    .name = "divided-by-k-minus-1",
    .stages = {"loss"},
    .sentence = "the divisor counts one micro-batch too few",
    .formula = "c = S K / ((K - 1) N)",
    .remedy = "divide by the window's {K} micro-batches: the loop counts one too few",
    .left = left,
    .restated = restated,
}};

}  // namespace k_minus_one

// Every micro-batch is averaged by itself: wrong as soon as their items differ.
namespace mean_of_means {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  const double items = evidence.items(held.name.window, held.name.micro_batch);
  if (items == 0) return Values{0.0};
  return Values{evidence.scale(held.name.window) / (evidence.micro_batches(held.name.window) * items)};
}

const RegisterBug registered{{
    .name = "mean-of-means",
    .stages = {"loss"},
    .sentence = "every micro-batch is divided by its own items, and the window by K",
    .formula = "c = S / (K n_k)",
    .remedy =
        "divide by the window's {N} items, not by {K} times the micro-batch's own {n_k}: `loss.sum() / window_items`",
    .left = left,
    .restated = [](const Case& c, const Trace&) { return normalised_as(c, Normalisation::mean_of_means); },
}};

}  // namespace mean_of_means

// Nobody divides by the window's items.
namespace missing_divisor {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  return Values{evidence.scale(held.name.window)};
}

const RegisterBug registered{{
    .name = "sum-not-mean",
    .stages = {"loss"},
    .sentence = "the gradient is a sum over the items, not their mean: nothing divides it",
    .formula = "c = S",
    .remedy = "divide by the window's {N} items: `loss.sum() / window_items`",
    .left = left,
    .restated = [](const Case& c, const Trace&) { return normalised_as(c, Normalisation::sum); },
}};

}  // namespace missing_divisor

// The loss is divided by K although N already counts the whole window.
namespace over_k {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  return times(held.expected, 1.0 / evidence.micro_batches(held.name.window));
}

const RegisterBug registered{{
    .name = "over-k",
    .stages = {"loss"},
    .sentence = "the loss is divided by K although N counts the whole window",
    .formula = "c = S / (K N)",
    .remedy = "leave out one division by the window's {K} micro-batches: the loss is divided already "
              "(`accelerator.backward` and Lightning divide by themselves)",
    .left = left,
    .restated =
        [](const Case& c, const Trace& trace) {
          return divided_by_counts(
              c, trace, [](const Counts& n) { return n.items * n.micro_batches; }, 2);
        },
}};

}  // namespace over_k

// Two parts of a framework compensate for accumulation.
namespace extra_times_k {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  return times(held.expected, evidence.micro_batches(held.name.window));
}

const RegisterBug registered{{
    .name = "extra-times-k",
    .stages = {"loss"},
    .sentence = "the loss is multiplied by K once too often",
    .formula = "c = K S / N",
    .remedy = "leave out one multiplication by the number of micro-batches, {K}",
    .left = left,
    .restated =
        [](const Case& c, const Trace& trace) {
          return divided_by_counts(
              c, trace, [](const Counts& n) { return n.items / n.micro_batches; }, 2);
        },
}};

}  // namespace extra_times_k

// Every micro-batch divides by its own items and nobody divides by K.
namespace own_items {

std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  if (held.name.tensor != "in.factor") return std::nullopt;
  const double items = evidence.items(held.name.window, held.name.micro_batch);
  return Values{items == 0 ? 0.0 : evidence.scale(held.name.window) / items};
}

const RegisterBug registered{{
    .name = "own-items",
    .stages = {"loss"},
    .sentence = "every micro-batch is divided by its own items only, and not by K",
    .formula = "c = S / n_k",
    .remedy = "divide by the window's {N} items, not by the micro-batch's own {n_k}: `loss.sum() / window_items`",
    .left = left,
    .restated = [](const Case& c,
                   const Trace& trace) { return divided_by(trace, [&c](int w, int k) { return items_of(c, w, k); }); },
}};

}  // namespace own_items

// All items of the window have the same weight.
const RegisterBug registered_window_items{{
    .name = "divided-by-all-items",
    .sentence = "all items of the window have the same weight, in any micro-batch",
    .formula = "c = S / N",
    .remedy =
        "this gives the full batch's gradient: state `normalisation=\"window_items\"`, or divide as the case says",
    .restated = [](const Case& c, const Trace&) { return normalised_as(c, Normalisation::window_items); },
}};

/// The number of micro-batches that the first tapped factor was divided for; 0: none, or no whole number.
long double divided_for(const Case& c, const Trace& trace) {
  const Tensor* factor = trace.find(TapView{0, 0, "loss", "in.factor"});
  const Counts n = counts_of(c, 0);
  if (factor == nullptr || is_opaque(c.model.loss) || !(factor->value(0) > 0) ||
      c.recipe.loss_scale.kind != kinds::none)
    return 0;
  const bool own = c.normalisation == Normalisation::mean_of_means;
  const long double items = own ? items_of(c, 0, 0) : n.items / n.micro_batches;
  const long double count = 1 / (factor->value(0) * items), whole = std::round(count);
  return std::fabs(count - whole) <= count * std::numeric_limits<float>::epsilon() * 2 ? whole : 0;
}

const RegisterBug registered_another_count{{
    .name = "divided-by-another-k",
    .sentence = "every window is divided by another number of micro-batches than it has",
    .formula = "c = S K / (K' N), or S / (K' n_k)",
    .remedy = "divide by the window's {K} micro-batches",
    .restated =
        [](const Case& c, const Trace& trace) {
          const long double count = divided_for(c, trace);
          if (count < 1 || count == counts_of(c, 0).micro_batches) return Ways{};
          const bool own = c.normalisation == Normalisation::mean_of_means;
          Ways ways = divided_by(
              trace,
              [&c, count, own](int w, int k) {
                const Counts n = counts_of(c, w);
                return own ? count * items_of(c, w, k) : count * n.items / n.micro_batches;
              },
              5);
          for (Restated& way : ways)
            way.sentence = "every window is divided by " + std::to_string(static_cast<int>(count)) +
                           " micro-batches, whatever it has";
          return ways;
        },
}};

}  // namespace
}  // namespace tally::loss_divisors_bug
