// Restatements of what a micro-batch's sum is divided by.
#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/exact/exact.hpp"
#include "properties/diagnosis/restatement.hpp"

namespace tally::divisors_restatement {
namespace {

using Divisor = std::function<long double(int window, int micro_batch)>;
using Ways = std::vector<Restated>;

/// A window's numbers, as a divisor counts them.
struct Counts {
  long double micro_batches, configured, items, rows;
};

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Counts counts_of(const Case& c, int window) {
  Counts counts{static_cast<long double>(c.windows[at(window)].size()),
                static_cast<long double>(c.windows.front().size()), oracle::window_items<long double>(c, at(window)),
                0};
  for (const std::int64_t rows : c.windows[at(window)]) counts.rows += static_cast<long double>(rows);
  return counts;
}

long double own_items(const Case& c, int window, int micro_batch) {
  return oracle::micro_batch_items<long double>(c, at(window), at(micro_batch));
}

bool of_one_length(const Case& c) {
  const auto longer = [&](const auto& window) { return window.size() != c.windows.front().size(); };
  return std::none_of(c.windows.begin(), c.windows.end(), longer);
}

/// Nothing where the claims take the divisor apart.
Ways divided_by(const Trace& trace, Divisor divisor, int changed = 1) {
  if (trace.claims.divide == "window") return {};
  Restated way;
  way.deviation.divisor = std::move(divisor);
  way.changed = changed;
  return {way};
}

Ways normalised_as(const Case& c, Normalisation normalisation, int changed = 1) {
  if (c.normalisation == normalisation) return {};
  Restated way;
  way.change = [normalisation](Case& other) { other.normalisation = normalisation; };
  way.changed = changed;
  return {way};
}

const RegisterRestatement registered_mean_of_means{{
    .name = "mean-of-means",
    .sentence = "every micro-batch is divided by its own items, and the window by K",
    .formula = "c = S / (K n_k)",
    .ways = [](const Case& c, const Trace&) { return normalised_as(c, Normalisation::mean_of_means); },
}};

const RegisterRestatement registered_window_items{{
    .name = "divided-by-all-items",
    .sentence = "all items of the window have the same weight, in any micro-batch",
    .formula = "c = S / N",
    .remedy =
        "this gives the full batch's gradient: state `normalisation=\"window_items\"`, or divide as the case says",
    .ways = [](const Case& c, const Trace&) { return normalised_as(c, Normalisation::window_items); },
}};

const RegisterRestatement registered_sum{{
    .name = "sum-not-mean",
    .sentence = "the gradient is a sum over the items, not their mean: nothing divides it",
    .formula = "c = S",
    .ways = [](const Case& c, const Trace&) { return normalised_as(c, Normalisation::sum); },
}};

const RegisterRestatement registered_configured_k{{
    .name = "last-window-wrong-divisor",
    .sentence = "a short window is divided by the K of the others, not by its own",
    .formula = "c = S / (K n_k) with the first window's K",
    .ways =
        [](const Case& c, const Trace& trace) {
          if (of_one_length(c)) return Ways{};
          Ways ways = normalised_as(c, Normalisation::mean_of_means_configured, 2);
          for (Restated& way : divided_by(
                   trace,
                   [&c](int w, int) {
                     const Counts n = counts_of(c, w);
                     return n.items * n.configured / n.micro_batches;
                   },
                   3)) {
            way.formula = "c = S r / (K N) with the first window's K";
            ways.push_back(way);
          }
          return ways;
        },
}};

const RegisterRestatement registered_own_items{{
    .name = "own-items",
    .sentence = "every micro-batch is divided by its own items only, and not by K",
    .formula = "c = S / n_k",
    .ways = [](const Case& c,
               const Trace& trace) { return divided_by(trace, [&c](int w, int k) { return own_items(c, w, k); }); },
}};

const RegisterRestatement registered_over_k{{
    .name = "over-k",
    .sentence = "the loss is divided by K although N counts the whole window",
    .formula = "c = S / (K N)",
    .ways =
        [](const Case& c, const Trace& trace) {
          return divided_by(
              trace, [&c](int w, int) { return counts_of(c, w).items * counts_of(c, w).micro_batches; }, 2);
        },
}};

const RegisterRestatement registered_times_k{{
    .name = "extra-times-k",
    .sentence = "the loss is multiplied by K once too often",
    .formula = "c = K S / N",
    .ways =
        [](const Case& c, const Trace& trace) {
          return divided_by(
              trace, [&c](int w, int) { return counts_of(c, w).items / counts_of(c, w).micro_batches; }, 2);
        },
}};

const RegisterRestatement registered_k_minus_one{{
    .name = "divided-by-k-minus-1",
    .sentence = "the divisor counts one micro-batch too few",
    .formula = "c = S K / ((K - 1) N), or S / ((K - 1) n_k)",
    .ways =
        [](const Case& c, const Trace& trace) {
          const auto left = [](long double k) { return k > 1 ? (k - 1) / k : 1; };
          Ways ways = divided_by(
              trace,
              [&c, left](int w, int) {
                const Counts n = counts_of(c, w);
                return n.items * left(n.micro_batches);
              },
              3);
          for (Restated& way : divided_by(
                   trace,
                   [&c](int w, int k) {
                     const long double of = counts_of(c, w).micro_batches;
                     return (of > 1 ? of - 1 : 1) * own_items(c, w, k);
                   },
                   4)) {
            ways.push_back(way);
          }
          return ways;
        },
}};

/// The number of micro-batches that the first tapped factor was divided for; 0: none, or no whole number.
long double divided_for(const Case& c, const Trace& trace) {
  const Tensor* factor = trace.find(TapView{0, 0, "loss", "in.factor"});
  const Counts n = counts_of(c, 0);
  if (factor == nullptr || is_opaque(c.model.loss) || !(factor->value(0) > 0) ||
      c.recipe.loss_scale.kind != kinds::none)
    return 0;
  const bool own = c.normalisation == Normalisation::mean_of_means;
  const long double items = own ? own_items(c, 0, 0) : n.items / n.micro_batches;
  const long double count = 1 / (factor->value(0) * items), whole = std::round(count);
  return std::fabs(count - whole) <= count * std::numeric_limits<float>::epsilon() * 2 ? whole : 0;
}

const RegisterRestatement registered_another_count{{
    .name = "divided-by-another-k",
    .sentence = "every window is divided by another number of micro-batches than it has",
    .formula = "c = S K / (K' N), or S / (K' n_k)",
    .remedy = "divide by the window's {K} micro-batches",
    .ways =
        [](const Case& c, const Trace& trace) {
          const long double count = divided_for(c, trace);
          if (count < 1 || count == counts_of(c, 0).micro_batches) return Ways{};
          const bool own = c.normalisation == Normalisation::mean_of_means;
          Ways ways = divided_by(
              trace,
              [&c, count, own](int w, int k) {
                const Counts n = counts_of(c, w);
                return own ? count * own_items(c, w, k) : count * n.items / n.micro_batches;
              },
              5);
          for (Restated& way : ways)
            way.sentence = "every window is divided by " + std::to_string(static_cast<int>(count)) +
                           " micro-batches, whatever it has";
          return ways;
        },
}};

const RegisterRestatement registered_rows{{
    .name = "denominator-counts-ignored",
    .sentence = "the denominator counts ignored rows",
    .formula = "c = S / rows",
    .ways =
        [](const Case& c, const Trace& trace) {
          return divided_by(
              trace, [&c](int w, int) { return counts_of(c, w).rows; }, 2);
        },
}};

}  // namespace
}  // namespace tally::divisors_restatement
