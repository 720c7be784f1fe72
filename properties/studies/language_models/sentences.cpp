#include "properties/studies/language_models/sentences.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "oracle/case/formats.hpp"
#include "properties/studies/language_models/family.hpp"
#include "properties/studies/wording.hpp"

namespace tally {
namespace {

std::string share_text(const Stratum& s) {
  const auto judged = static_cast<double>(std::max<std::uint64_t>(s.judged, 1));
  return three_digits(100 * static_cast<double>(s.alarms) / judged) + " %";
}

/// The largest r of fp32, over all tensors.
double largest_in_fp32(const Strata& strata) {
  double largest = 0;
  for (const auto& [labels, s] : strata.all())
    if (labels.front() == "clean" && labels[3] == name_of(Dtype::fp32)) largest = std::max(largest, s.worst);
  return largest;
}

/// "online under three_pass": what ran and what was claimed where no tensor, in no format, told.
std::vector<std::string> not_told(const Strata& strata) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> outside;
  for (const auto& [labels, s] : strata.all())
    if (labels.front() == "other") outside[{labels[2], labels[3]}] += s.alarms;
  std::vector<std::string> pairs;
  for (const auto& [pair, elements] : outside)
    if (elements == 0) pairs.push_back(pair.first + " judged as “" + pair.second + "”");
  return pairs;
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

Stratum of_claim(const Strata& strata, const char* tensor, const char* ran, const char* claimed) {
  return strata.sum({"other", tensor, ran, claimed});
}

constexpr const char *before = "P cast before the sum", *behind = "P cast behind the sum";

std::string outside_text(const Stratum& s) {
  return std::to_string(s.alarms) + " of " + std::to_string(s.judged) + " elements lie outside, in " +
         std::to_string(s.alarmed) + " of " + std::to_string(s.cases) + " cases";
}

std::string which_weights_were_summed(const Strata& strata) {
  return "y alone does not tell for certain on random data which weights were summed, those that were cast or those "
         "before. A kernel that sums what it cast, judged as one that casts behind the sum: " +
         outside_text(of_claim(strata, "attention y", "online_cast_sum", behind)) +
         ". The opposite: " + outside_text(of_claim(strata, "attention y", "online_cast", before)) +
         ". Weights that are cast before they are summed move y by at most u Σ P |v − y|, weights that are cast behind "
         "it by u Σ P |v|: the bounds part only where the values that a row weighs lie together. The lse, which holds "
         "the sum, tells the first (" +
         outside_text(of_claim(strata, "attention lse", "online_cast_sum", behind)) +
         "), where it is tapped. The opposite is told by the law constant_values_pass, to the bit, on weights whose "
         "roundings all lean to one side.";
}

}  // namespace

std::string language_model_answer(const Strata& strata) {
  const Stratum clean = strata.sum({"clean"});
  const auto uncast = [&](const Dtype format) {
    return share_text(strata.sum({"other", "attention y", "online_cast", "P not cast", std::string(name_of(format))}));
  };
  return std::to_string(clean.alarms) + " of " + std::to_string(clean.judged) +
         " elements of clean runs lie outside their bound; in fp32 the largest r is " +
         three_digits(std::floor(1000 * largest_in_fp32(strata)) / 1000) + ". A cast of P that is not claimed puts " +
         uncast(Dtype::fp16) + " of attention's y outside in fp16 and " + uncast(Dtype::bf16) +
         " in bf16. Claims that no tensor tells from what ran: " + listed(not_told(strata)) + ".";
}

std::vector<std::string> language_model_notes(const Strata& strata) {
  return {
      "Each kind of layers stands in a model of its own over tokens, with one micro-batch: attention over sequences of "
      "3 to 100 rows, heads of 4 to 64 features, causal or not, some with dropout, scores of 2^-4 to 2^4 times 1 / "
      "√d; norms of 3 to 777 features around 0, 1 and 32, and with outliers; rotary positions up to 99,999; gates "
      "from 2^-6 to 4 times as drawn; vocabularies of 3 to 3,000 for tables, used as words are, and of 10 to 4,000 for "
      "heads, whose logits lie from nearly equal to far apart. Case i of a kind is a function of seed and i alone, the "
      "same for all its kernels.",
      "A largest r next to 1 in 16 bits is no accident. Where fp32 errs less than the exact value lies from the next "
      "point between two numbers of the format, one number alone is right: error and bound are both its distance. So "
      "is a median near 1. What is used beyond that is the excess (reports/excess.md).",
      "In fp32 sums stay far inside: a bound takes every rounding at its worst and with one sign, n u Σ|a| for n "
      "addends. Roundings with random signs leave the root of the sum of squares, some 0.4 u √(Σ s²) over partial "
      "sums s. Addends of one sign have partial sums that grow like k: r is about 1 / (4 √n). Those of random "
      "signs grow like √k: about 0.4 / n. The rows of the embedding, whose addends lean to one side, fall like "
      "the first with the number of uses.",
      "In 16 bits products and sums of few bits are often exact in fp32, so that statistics of rows are further "
      "inside still: a layer_norm's mean, attention's delta.",
      "An lse is held to the largest score error of all keys, where the errors meet in it by weight. Head and loss as "
      "one are held to their composed functions, so the bounds of the logits, which no tap shows, go into the rest.",
      "Gradients dq and dk of rows whose weight stands on one key are what a cancellation leaves, dy · v less delta, "
      "and smaller than the rounding of both: uninformative. So are the tails of gated gelu, and in 16 bits "
      "attention that stores its scores where they are large: a score t is off by u |t|, its weight by e to that. And "
      "in fp16 whatever underflows, as dz of an unlikely class.",
      which_weights_were_summed(strata),
      "Claims that no tensor tells from what ran, as the answer lists them, differ by a few roundings beside those of "
      "n products, a rescaled exponential or a folded scale: random data does not fill the difference.",
      "A claim about stores in 16 bits is not judged in fp32, where nothing is lost in them. No kernel here does what "
      "cross_entropy's lse and online_lse say, so there are no rows of theirs.",
  };
}

}  // namespace tally
