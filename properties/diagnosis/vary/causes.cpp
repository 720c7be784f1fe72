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
    "divide each sum by the window's {N} {rows} that count: `loss.sum() / {N}`, whatever each is padded to";

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
     "each micro-batch's mean over its own {n} items is weighed by its share of the window's rows",
     "weigh it by its share of the items, {n} / {N}, or divide each sum by the window's {N}"},
    {"1/K", "1/K", "gradients are divided by {K=}, although the loss is divided by what the window holds already",
     "leave the division by K out"},
    {"n_k/N", "n_k/N",
     "each micro-batch's loss, which is its part of the window's already, is weighed by its share of the {rows} "
     "({n} / {N}) once more",
     "leave that share out"},
    {"K", "K", "every micro-batch counts {K=} times", "divide what is added up by what the window holds, once"},
    {"1/N", "1/N", "gradients are divided by the window's {N} {rows} once too often", "divide once"},
    {"N", "N", "gradients of the window's {N} {rows} are added up and divided by nothing",
     "divide by the window's {N} {rows}"},
    {"1/(R n_r)", "N/(R n_r)",
     "each rank's loss is divided by its own {n} {rows}, and gradients are averaged over {R} ranks",
     "divide by what all ranks hold, {N}, and multiply by the ranks over which gradients are averaged: `loss.sum() * "
     "{R} / {N}`"},
    {"1/n_r", "N/n_r", "each rank's loss is divided by its own {n} {rows}, and gradients are added up over {R} ranks",
     "divide by what all ranks hold, {N}: `loss.sum() / {N}`"},
    {"1/R", "1/R", "gradients are divided by the {R} ranks, although their loss is divided by what all of them hold",
     "multiply the loss by {R} where gradients are averaged, as DistributedDataParallel does, or let each rank divide "
     "by "
     "its own share"},
    {"R", "R", "gradients are added up over {R} ranks, each of which divides by its own share",
     "average gradients over ranks, or divide by what all ranks hold"},
    {"-1", "the other sign", "what is added up has the other sign", "send the loss back, not its negative"},
    {"K/(K-1)", "K/(K-1)", "every micro-batch counts as if the window had one less than {K=}", "divide by {K=}"},
    {"(K-1)/K", "(K-1)/K", "one of {K=} is missing from what every micro-batch counts", "count all of them"},
    {"a factor", "", "every micro-batch counts {x} times what it should",
     "divide by what the window holds, once, whatever the micro-batches are"},
    {"1/n_k and a factor", "",
     "each micro-batch's loss is divided by its own {n} {rows}, and all are then scaled by one factor, as a clip does",
     divide_by_the_window},
    {"0", "", "micro-batch {k} of {K} leaves nothing in the gradient",
     "clear gradients before a window's first micro-batch alone, and step behind its last one alone, so that the "
     "backward "
     "pass of each of them counts"},
    {"ranks differ", "", "ranks differ in what they should have in common: {term}",
     "give all ranks the same parameters, which DistributedDataParallel sends from the first or `broadcast` does, the "
     "same options, and as many steps"},
    {"a scale of its rank", "",
     "a rank counts by a number of its own, as where what it has is clipped or scaled before ranks are added up",
     "clip and scale behind the sum over ranks, by what all of them have"},
    {"ranks apart", "", "each of {R} ranks steps with its own gradient alone: that of the others does not come to it",
     "wrap the model in DistributedDataParallel, call the wrapped one, and leave a window's last `backward()` outside "
     "of `no_sync()`; or all-reduce gradients before the step"},
    {"the last alone", "", "the last of {K} micro-batches alone is left in the gradient",
     "clear gradients once a window, before its first micro-batch: not before each"},
    {"each later counts more", "",
     "a micro-batch counts less the earlier it came, as where what is added up is clipped or scaled after each of them",
     "clip and scale once, behind the last `backward()`"},
    {"each earlier counts more", "",
     "a micro-batch counts the more the earlier it came, as where the sum of the losses so far is sent back after each",
     "send each loss back once, or their sum once, behind the last"},
    {"a scale of its own", "",
     "each micro-batch is scaled by a number of its own that is no count, such as its norm, its loss or a root of it",
     "scale once a window, behind the last `backward()`: what is added up, by a number of the whole window"},
    {"weights", "", "the micro-batches do not count as they do in the whole batch",
     "weigh the rows of all micro-batches alike: divide each sum by what the window holds"},
    {"stale gradient", "", "what the step is handed holds {x} times {term} besides the micro-batches' own",
     "clear gradients after every step, before the next window's first micro-batch"},
    {"parameters added", "", "what the step is handed holds {x} times {term} more than that of the whole batch",
     "add a decay or a penalty once a window, or divide it by K"},
    {"a term of no row", "", "a term that reads no row is added with every micro-batch: it counts {x} times",
     "add it once a window, or divide it by the number of micro-batches"},
    {"another term", "", "what the step is handed holds {x} times {term} besides the micro-batches' own",
     "add to gradients once a window, behind the last `backward()`"},
    {"no sum of the micro-batches", "",
     "what the step is handed is no weighted sum of the micro-batches' own gradients: {x} of it is left over",
     "look for what is done to each of them, or to some, before they are added up (a clip of each element, a sign, a "
     "normalisation, noise), and for what moves between them: parameters, buffers, a state that goes on"},
    {"a short window", "", "{window} has {M} of {K} micro-batches, and what it adds up is divided by {K} all the same",
     "divide by the rows that the window has, or by its own number of micro-batches: an epoch's last window has fewer"},
    {"carried rows", "", "{left} rows that an epoch leaves over go into {window}, with which the next epoch begins",
     "step and clear behind an epoch's last micro-batch as well, and divide by the rows that this window has"},
    {"lost rows", "", "{left} rows that an epoch leaves over are cleared before {window}: no step counts them",
     "step behind an epoch's last micro-batch as well, and divide by the rows that this window has"},
    {"an early step", "", "the optimizer steps behind micro-batch {M} of {K} in {window}",
     "step behind a window's last micro-batch: `(i + 1) % K == 0`, where i counts from 0"},
    {"repeated rows", "", "{left} rows are trained on {times} in {window}", "fetch a new batch for every micro-batch"},
    {"options", "", "{step} is made with {term}, with the whole batch {meant}",
     "move a schedule once a window, behind the optimizer's step, and set no rate by the number of micro-batches or "
     "ranks, "
     "unless one that grows with them is meant"},
    {"kept beside", "",
     "what the optimizers step comes to the whole batch; what the loop keeps beside it does not: {term}",
     "move it once a window, behind the step, or weigh what each micro-batch adds to it by its rows; what is only "
     "logged, leave out of what `make` returns"},
    {"behind the first step", "", "{which} is handed what it should be, and what follows differs from the whole batch",
     "look at what the loop keeps between steps: a schedule, a moving average or an optimizer's state that moves with "
     "every micro-batch"},
    {"steps", "", "the optimizer steps {steps} times a window, with the whole batch {meant}",
     "step once a window, behind its last micro-batch, however many there are"},
    {"batch_norm", "", "{layers} sees each micro-batch by itself: the gap is gone when {frozen} is frozen",
     "no division mends that: hold its statistics still (`eval()`), or use GroupNorm or LayerNorm, if micro-batches "
     "are "
     "to give the full batch's update"},
    {"spectral norm", "", "{layers} goes a step on with every forward pass, {K} times a window in place of once",
     "let it go on once a window: put it in `eval()` behind a window's first forward pass, or use `weight_norm`"},
    {"rows see each other", "",
     "the whole batch's gradient is no weighted sum of the micro-batches' own ({x} of it is left over): the loss of a "
     "row "
     "depends on the rows beside it, or gradients pass through more than sums before the step",
     "keep what rows are compared with for the whole window, as a cache of embeddings does, or leave such a loss "
     "unaccumulated"},
    {"not finite", "", "a micro-batch leaves elements that are not finite in {term}, which the whole batch does not",
     "look for a division by what a micro-batch may lack: items that count, a variance over one row"},
    {"error", "", "{sizes} end with {term}, the whole batch does not",
     "make the step run on micro-batches of any size, single rows and a short last one among them"},
    {"error on ranks", "", "{sizes} end with {term}, the whole batch does not",
     "let all ranks call the same collectives in the same order, and step as often"},
    {"unknown", "",
     "the loop ends elsewhere than with the whole batch, and no gradient that a step was handed tells how",
     "compare what it does a micro-batch with what it does a window"},
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
