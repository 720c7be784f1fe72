// The tables and the sentences of the study, made from what its runs left.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "oracle/case/tensors/tensor.hpp"
#include "properties/lab/evidence/table_rows.hpp"
#include "properties/lab/language_models/family.hpp"
#include "properties/lab/study.hpp"

namespace tally {
namespace {

/// Cells of formats in which there was nothing to count.
constexpr double none = std::numeric_limits<double>::quiet_NaN();

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? none : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// 0 where most elements are exact, or nearly so.
double median_of(const RatioHistogram& ratios) {
  const double median = ratios.quantile(0.5);
  return median == RatioHistogram::lower_edge(0) ? 0 : median;
}

/// The counts of one row, by format: labels and precision as HeldRun has them.
class ByFormat {
 public:
  ByFormat(const Strata& strata, Labels labels, const std::string& part) {
    const std::size_t before_precision = labels.size();
    labels.insert(labels.end(), {"", part});
    for (const std::string& precision : names_of(storage_formats())) {
      labels[before_precision] = precision;
      formats_.push_back({precision, strata.sum(labels), strata.sum(excess_labels(labels)).worst});
      all_.merge(formats_.back().counts);
    }
  }
  struct Format {
    std::string name;
    Stratum counts;
    double excess;
  };
  const std::vector<Format>& formats() const { return formats_; }
  const Stratum& all() const { return all_; }

 private:
  std::vector<Format> formats_;
  Stratum all_;
};

void put_clean(TableRows& rows, const ByFormat& found) {
  const Stratum& all = found.all();
  rows.count("cases", all.cases).count("elements", all.judged);
  for (const auto& [format, s, excess] : found.formats()) {
    const bool any = s.judged > 0;
    rows.number(format + ": r median", any ? median_of(s.ratios) : none);
    rows.number(format + ": r largest", any ? s.worst : none);
    rows.number(format + ": excess largest", any ? excess : none);
    rows.number(format + ": uninformative, %", percent(s.vacuous, s.checks));
  }
  rows.count("outside", all.alarms);
}

void put_other(TableRows& rows, const ByFormat& found) {
  rows.count("cases", found.all().cases).count("cases with an element outside", found.all().alarmed);
  for (const auto& [format, s, excess] : found.formats()) {
    rows.number(format + ": outside, %", percent(s.alarms, s.judged));
    rows.number(format + ": r largest", s.judged > 0 ? s.worst : none);
  }
}

StudyTable clean_runs(const Strata& strata) {
  TableRows rows("Clean runs",
                 "r = |value − exact| / bound of every element of fp32, fp16 and bf16 whose bits are not known before, "
                 "0 where it is exact; excess is what is used of a bound beyond its last rounding. Uninformative: the "
                 "bound is no smaller than the value. Outside: r above 1.");
  for (const LayerFamily& family : layer_families())
    for (const ShownTensor& tensor : family.tensors)
      for (const std::string& variant : strata.next({"clean", tensor.shown}))
        for (const std::string& part : family.part_words) {
          const ByFormat found(strata, {"clean", tensor.shown, variant}, part);
          if (found.all().checks == 0) continue;
          rows.word("tensor", tensor.shown).word("kernel", variant).word("rows", part);
          put_clean(rows, found);
        }
  return std::move(rows).table();
}

StudyTable nothing_claimed(const Strata& strata) {
  TableRows rows(
      "The same runs where nothing is claimed",
      "As what a library leaves of whose kernels nothing is known: the largest bound of each family. Runs of "
      "all kernels together.");
  for (const LayerFamily& family : layer_families())
    for (const ShownTensor& tensor : family.tensors)
      for (const std::string& part : family.part_words) {
        const ByFormat found(strata, {"unclaimed", tensor.shown}, part);
        if (found.all().checks == 0) continue;
        rows.word("tensor", tensor.shown).word("rows", part);
        put_clean(rows, found);
      }
  return std::move(rows).table();
}

StudyTable other_claims(const Strata& strata) {
  TableRows rows("The same runs under claims that leave something out",
                 "Elements outside a bound that does not know what the kernel does. How large r is there says little: "
                 "where an exact value lies next to a number of the format, a bound that allows that number alone is "
                 "their distance.");
  for (const LayerFamily& family : layer_families())
    for (const ShownTensor& tensor : family.tensors)
      for (const std::string& ran : strata.next({"other", tensor.shown}))
        for (const std::string& claimed : strata.next({"other", tensor.shown, ran}))
          for (const std::string& part : family.part_words) {
            const ByFormat found(strata, {"other", tensor.shown, ran, claimed}, part);
            if (found.all().checks == 0) continue;
            rows.word("tensor", tensor.shown).word("ran", ran).word("claimed", claimed).word("rows", part);
            put_other(rows, found);
          }
  return std::move(rows).table();
}

StudyTable alarms(const Strata& strata) {
  TableRows rows("Alarms", "Each failing check of a clean run, with the case to replay.");
  for (const auto& [labels, s] : strata.all()) {
    if (labels.front() != "alarm") continue;
    rows.word("layers", labels[1]).word("tap", labels[2]).count("case", s.worst_case).number("r", s.worst);
    rows.word("replay", labels[3]);
  }
  return std::move(rows).table();
}

}  // namespace

std::vector<StudyTable> language_model_tables(const Strata& strata) {
  std::vector<StudyTable> tables{clean_runs(strata), nothing_claimed(strata), other_claims(strata)};
  if (!strata.next({"alarm"}).empty()) tables.push_back(alarms(strata));
  return tables;
}

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
