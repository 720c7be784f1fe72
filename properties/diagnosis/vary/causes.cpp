// Causes as a loop's author would say them, and what counts in a loss where nobody saw it.
#include "properties/diagnosis/vary/causes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

namespace tally {
namespace {

const std::string divide_by_the_window =
    "divide by the window's {N}: `loss.sum() / {N}`, or weigh each mean by its own {rows} / {N}";

const std::string divide_by_what_counts =
    "divide each sum by the window's {N} {rows} without padding: `loss.sum() / {N}`";

const std::vector<VaryCause> all_causes{
    {"1/(K n_k)", "N/(K n_k)", "each micro-batch's loss is divided by its own {n} {rows} and by {K=}",
     divide_by_the_window},
    {"1/n_k", "N/n_k", "each micro-batch's loss is divided by its own {n} {rows}, and all are added up",
     divide_by_the_window},
    {"1/(K p_k)", "P/(K p_k)", "each micro-batch's loss is divided by its own {p} tokens, padding counted, and by {K=}",
     divide_by_what_counts},
    {"1/p_k", "P/p_k",
     "each micro-batch's loss is divided by its own {p} tokens, padding counted, and all are added up",
     divide_by_what_counts},
    {"n_k/N of t_k", "(n_k/N)/(t_k/T)",
     "each micro-batch's mean over its own {n} items is weighted by its share of the window's rows",
     "weight it by its share of the items, {n} / {N}, or divide each sum by the window's {N}"},
    {"1/K", "1/K", "gradients are divided by {K=}, although the loss is already divided by the window's count",
     "leave the division by K out"},
    {"n_k/N", "n_k/N",
     "each micro-batch's loss is weighted by its share of the {rows} ({n} / {N}), although it is already divided by "
     "the window's",
     "leave that share out"},
    {"K", "K", "every micro-batch counts {K=} times", "divide the sum by the window's count, once"},
    {"1/N", "1/N", "gradients are divided by the window's {N} {rows} once too often", "divide once"},
    {"N", "N", "gradients of the window's {N} {rows} are added up, but not divided",
     "divide by the window's {N} {rows}"},
    {"1/(R n_r)", "N/(R n_r)",
     "each rank's loss is divided by its own {n} {rows}, and gradients are averaged over {R} ranks",
     "divide by the {N} of all ranks, and multiply by the number of ranks over which gradients are averaged: "
     "`loss.sum() * {R} / {N}`"},
    {"1/n_r", "N/n_r", "each rank's loss is divided by its own {n} {rows}, and gradients are added up over {R} ranks",
     "divide by the {N} of all ranks: `loss.sum() / {N}`"},
    {"1/R", "1/R",
     "gradients are divided by the {R} ranks, although the loss is already divided by the count of all ranks",
     "multiply the loss by {R} if gradients are averaged, as DistributedDataParallel does, or divide by each rank's "
     "own count"},
    {"R", "R", "gradients are added up over {R} ranks, each of which divides by its own share",
     "average gradients over ranks, or divide by the count of all ranks"},
    {"-1", "the other sign", "the gradients have the wrong sign", "call `backward()` on the loss, not on its negative"},
    {"K/(K-1)", "K/(K-1)", "every micro-batch counts as if the window had one micro-batch less than {K=}",
     "divide by {K=}"},
    {"(K-1)/K", "(K-1)/K", "every micro-batch counts (K-1)/K of what it should, with {K=}", "count all of them"},
    {"a factor", "", "every micro-batch counts {x} times what it should", "divide by the window's count, once"},
    {"1/n_k and a factor", "",
     "each micro-batch's loss is divided by its own {n} {rows}, and their sum is scaled by one factor, as by a clip",
     divide_by_the_window},
    {"0", "", "micro-batch {k} of {K} leaves nothing in the gradient",
     "clear gradients only before a window's first micro-batch, and step only after its last one"},
    {"ranks differ", "", "ranks differ where they should agree: {term}",
     "give all ranks the same options, the same number of steps and the same parameters (DistributedDataParallel or "
     "`broadcast` sends rank 0's)"},
    {"a scale of its rank", "",
     "each rank's gradient has a factor of its own, as when it is clipped or scaled before the sum over ranks",
     "clip and scale after the sum over ranks, by the same number on all ranks"},
    {"ranks apart", "", "each of {R} ranks steps with its own gradient only: gradients are not summed over ranks",
     "wrap the model in DistributedDataParallel, call the wrapped model, and keep the window's last `backward()` "
     "outside `no_sync()`; or all-reduce gradients before the step"},
    {"the last alone", "", "only the last of {K} micro-batches is left in the gradient",
     "clear gradients once per window, before its first micro-batch, not before each"},
    {"each later counts more", "",
     "earlier micro-batches count less, as when the accumulated gradient is clipped or scaled after each micro-batch",
     "clip and scale once, after the last `backward()`"},
    {"each earlier counts more", "",
     "earlier micro-batches count more, as when `backward()` is called on the running sum of the losses",
     "call `backward()` once for each loss, or once for their sum after the last"},
    {"a scale of its own", "",
     "each micro-batch is scaled by a number of its own that is not a count, such as its norm, its loss or a root of "
     "it",
     "scale the accumulated gradient once, after the last `backward()`, by a number of the whole window"},
    {"weights", "", "the micro-batches have other weights than in the whole batch",
     "give all rows the same weight: divide each sum by the window's count"},
    {"stale gradient", "", "the step's gradient contains {x} times {term} besides the micro-batches' gradients",
     "clear gradients after every step, before the next window's first micro-batch"},
    {"parameters added", "", "the step's gradient contains {x} times {term} more than the whole batch's",
     "add a decay or a penalty once per window, or divide it by K"},
    {"a term of no row", "", "a loss term that depends on no row is added with every micro-batch: it counts {x} times",
     "add it once per window, or divide it by the number of micro-batches"},
    {"another term", "", "the step's gradient contains {x} times {term} besides the micro-batches' gradients",
     "add to gradients once per window, after the last `backward()`"},
    {"no sum of the micro-batches", "",
     "the step's gradient is not a weighted sum of the micro-batches' gradients: {x} of it remains",
     "look for changes to the micro-batches' gradients before they are added up (an elementwise clip, a sign, a "
     "normalisation, noise), and for state that changes between micro-batches: parameters, buffers"},
    {"a short window", "", "{window} has {M} of {K} micro-batches, but its sum is divided by {K}",
     "divide by the window's own rows, or by its own number of micro-batches: an epoch's last window has fewer"},
    {"carried rows", "", "{left} rows left over from an epoch go into {window}, the first of the next epoch",
     "step and clear after an epoch's last micro-batch too, and divide by this window's own rows"},
    {"lost rows", "", "{left} rows left over from an epoch are cleared before {window}: no step uses them",
     "step after an epoch's last micro-batch too, and divide by this window's own rows"},
    {"an early step", "", "the optimizer steps after micro-batch {M} of {K} in {window}",
     "step after a window's last micro-batch: `(i + 1) % K == 0`, where i counts from 0"},
    {"repeated rows", "", "{left} rows are trained on {times} in {window}", "fetch a new batch for every micro-batch"},
    {"options", "", "{step} uses {term}, the whole batch's uses {meant}",
     "step the schedule once per window, after the optimizer's step, and do not set the learning rate by the number of "
     "micro-batches or ranks, unless that is meant"},
    {"kept beside", "", "the trained parameters match the whole batch, other state of the loop does not: {term}",
     "update it once per window, after the step, or weight each micro-batch's part by its rows; do not return from "
     "`make` what is only logged"},
    {"behind the first step", "", "{which} gets the right gradient, but what follows differs from the whole batch",
     "check the state between steps: a schedule, a moving average or an optimizer's state that changes with every "
     "micro-batch"},
    {"steps", "", "the optimizer steps {steps} times per window, with the whole batch {meant}",
     "step once per window, after its last micro-batch"},
    {"batch_norm", "", "{layers} sees each micro-batch by itself: the gap is gone when {frozen} is frozen",
     "freeze its statistics (`eval()`), or use GroupNorm or LayerNorm: no division of the loss gives the full batch's "
     "update"},
    {"spectral norm", "", "{layers} is updated by every forward pass, {K} times per window in place of once",
     "update it once per window: put it in `eval()` after a window's first forward pass, or use `weight_norm`"},
    {"rows see each other", "",
     "the whole batch's gradient is not a weighted sum of the micro-batches' gradients ({x} of it remains): a row's "
     "loss depends on other rows, or gradients are not only summed before the step",
     "compare rows over the whole window, as with a cache of embeddings, or do not accumulate such a loss"},
    {"not finite", "", "a micro-batch leaves non-finite elements in {term}, the whole batch does not",
     "look for a division by something that a micro-batch may lack: items that count, a variance over one row"},
    {"error", "", "{sizes} end with {term}, the whole batch does not",
     "make the step run on micro-batches of any size, such as a single row or a short last one"},
    {"error on ranks", "", "{sizes} end with {term}, the whole batch does not",
     "call the same collectives in the same order on all ranks, and step equally often"},
    {"unknown", "", "the loop ends at other parameters than with the whole batch, and no step's gradient shows why",
     "compare what the loop does per micro-batch with what it does per window"},
};

std::string letter_of(const std::string& key) {
  if (key == "n" || key == "p") return key + "_k";
  if (key == "x") return "w";
  if (key == "which") return "the first step";
  if (key == "window" || key == "step") return "a " + key;
  if (key == "left") return "some";
  if (key == "term" || key == "sizes" || key == "layers" || key == "frozen" || key == "steps" || key == "times" ||
      key == "meant")
    return "…";
  return key;
}

}  // namespace

const std::vector<VaryCause>& vary_causes() { return all_causes; }

const VaryCause& vary_cause(std::string_view name) { return *std::ranges::find(all_causes, name, &VaryCause::name); }

std::string filled_in(const std::string& text, const CauseNumbers& numbers) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at), close = text.find('}', open);
    if (open == std::string::npos || close == std::string::npos) return out + text.substr(at);
    out += text.substr(at, open - at);
    std::string key = text.substr(open + 1, close - open - 1);
    const bool named = key.ends_with('=');
    if (named) key.pop_back();
    const auto found = std::ranges::find(numbers, key, &CauseNumbers::value_type::first);
    if (found == numbers.end())
      out += letter_of(key);
    else
      out += (named ? key + " = " : "") + found->second;
    at = close + 1;
    if (found != numbers.end() && found->second.empty() && text.substr(at, 1) == " ") ++at;
  }
  return out;
}

std::string figure_text(double value) {
  char text[48];
  std::snprintf(text, sizeof text, value == std::floor(value) ? "%.12g" : "%.3g", value);
  return text;
}

std::pair<std::string, std::string> texts_apart(double one, double other) {
  std::pair<std::string, std::string> texts{figure_text(one), figure_text(other)};
  for (int digits = 4; texts.first == texts.second && digits <= std::numeric_limits<double>::max_digits10; ++digits) {
    for (auto [value, text] : {std::pair{one, &texts.first}, {other, &texts.second}}) {
      char digits_of[48];
      std::snprintf(digits_of, sizeof digits_of, "%.*g", digits, value);
      *text = digits_of;
    }
  }
  return texts;
}

namespace {

double whole_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

bool are_near(double a, double b, double sharpness) {
  return std::fabs(a - b) <= sharpness * std::max(std::fabs(a), std::fabs(b));
}

/// Whether these shares are those of whole numbers, as counts are. Nearer than numbers that are none come by chance.
bool are_of_counts(const std::vector<double>& shares, double sharpness) {
  const double sharper = sharpness * std::sqrt(sharpness);
  for (double all = 1; all * std::sqrt(sharpness) <= 1; ++all) {
    const auto whole = [&](double share) { return std::fabs(share * all - std::round(share * all)) <= sharper * all; };
    if (std::ranges::all_of(shares, whole)) return true;
  }
  return false;
}

/// The shares of what counts in a micro-batch's loss alone, by what it should weigh: all of the window's, where its
/// mean is taken.
std::vector<double> meant_shares(const WeighedPartition& partition) {
  std::vector<double> shares;
  for (std::size_t k = 0; k < partition.counts.rows.size(); ++k)
    shares.push_back(partition.weights->meant[k] * partition.counts.rows[k]);
  return shares;
}

}  // namespace

std::vector<double> hidden_shares(const WeighedPartition& partition, const std::vector<double>& factors,
                                  double sharpness) {
  std::vector<double> shares = partition.counts.as_left ? std::vector<double>{} : meant_shares(partition);
  for (std::size_t k = 0; partition.counts.as_left && k < factors.size(); ++k)
    shares.push_back(
        partition.weights->found[k] == 0 ? 0 : factors[k] * partition.weights->meant[k] / partition.weights->found[k]);
  const bool positive = std::ranges::all_of(shares, [](double share) { return share >= 0; });
  return positive && are_near(whole_of(shares), 1, sharpness) && are_of_counts(shares, sharpness)
             ? shares
             : std::vector<double>{};
}

bool has_a_scale_of_its_own(const WeighedPartition& partition, double sharpness) {
  if (partition.counts.as_left || partition.counts.ranks > 1) return false;
  const std::vector<double> shares = meant_shares(partition);
  if (are_near(whole_of(shares), 1, sharpness) && are_of_counts(shares, sharpness)) return false;
  const auto follow = [&](const std::vector<double>& own) {
    for (std::size_t k = 0; k < shares.size(); ++k)
      if (!are_near(shares[k] * own[0], shares[0] * own[k], sharpness)) return false;
    return true;
  };
  return !follow(partition.counts.rows) && !follow(partition.counts.items);
}

}  // namespace tally
