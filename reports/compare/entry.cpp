// What is compared of a case, and whether the errors of paired cases have become larger.
#include "reports/compare/entry.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "reports/census/census.hpp"
#include "reports/record/record.hpp"
#include "reports/statistics/paired.hpp"
#include "reports/text/stored_text.hpp"
#include "reports/text/text.hpp"

namespace tally {
namespace {

constexpr std::size_t digest_digits = 16;

auto place_of(const CaseEntry& entry) { return std::tie(entry.law, entry.precision, entry.id); }

}  // namespace

bool CaseEntry::same_place(const CaseEntry& other) const { return place_of(*this) == place_of(other); }

bool CaseEntry::repeats() const {
  return std::all_of(operations.begin(), operations.end(), [](const OperationRecord& o) { return o.repeats; });
}

bool same_content(const CaseEntry& a, const CaseEntry& b) {
  if (a.digest == b.digest) return true;
  if (a.operations.empty() == b.operations.empty() || a.status != b.status) return false;
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  return bits(a.worst_ratio) == bits(b.worst_ratio) && bits(a.rounding_drift) == bits(b.rounding_drift);
}

bool stands_before(const CaseEntry& a, const CaseEntry& b) { return place_of(a) < place_of(b); }

std::string digest_of(const CaseEntry& entry) {
  std::string text = std::string(word_of(entry.status)) + " " + hexadecimal_text(entry.worst_ratio) + " " +
                     hexadecimal_text(entry.rounding_drift) + "\n";
  for (const OperationRecord& o : entry.operations)
    text += o.operation + " " + o.variant + " " + o.inputs + " " + o.bits + " " + (o.repeats ? "" : "varies ") +
            hexadecimal_text(o.drift) + "\n";
  return hex(sha256_digest(text)).substr(0, digest_digits);
}

CaseEntry entry_of(const CaseRecord& c) {
  CaseEntry entry{c.law, c.precision, c.id, tag_of(c), c.status, ratio_of(c), c.rounding_drift, "", c.operations};
  for (OperationRecord& o : entry.operations) o.standing = {};  // baselines hold bits and errors, no ranks
  entry.digest = digest_of(entry);
  return entry;
}

std::vector<CaseEntry> entries_of(const Results& results) {
  std::vector<CaseEntry> entries;
  for (const CaseRecord& c : results.cases) entries.push_back(entry_of(c));
  std::stable_sort(entries.begin(), entries.end(), stands_before);
  const auto same = [](const CaseEntry& a, const CaseEntry& b) { return a.same_place(b); };
  entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  return entries;
}

namespace {

/// What the tests are made on: logarithms of finite ratios, and the pairs that have none.
struct Sample {
  std::vector<double> logs;
  std::uint64_t appeared = 0, vanished = 0, beyond = 0;
  double largest = 0;
  bool identical = true;
};

/// No error, one that can be compared, or one beyond comparison (NaN too).
int kind_of(double drift) { return drift <= drift_floor ? 0 : std::isfinite(drift) ? 1 : 2; }

Sample sample_of(const PairedDrifts& stratum) {
  Sample sample;
  for (std::size_t i = 0; i < stratum.before.size(); ++i) {
    const double before = stratum.before[i], now = stratum.now[i];
    sample.identical = sample.identical && std::bit_cast<std::uint64_t>(before) == std::bit_cast<std::uint64_t>(now);
    if (!(now <= 1) && before <= 1) {
      ++sample.beyond;
      sample.largest = std::isnan(now) ? std::numeric_limits<double>::infinity() : std::max(sample.largest, now);
    }
    const int kind_before = kind_of(before), kind_now = kind_of(now);
    sample.appeared += kind_now > kind_before;
    sample.vanished += kind_now < kind_before;
    const bool any = kind_before > 0 || kind_now > 0;  // two that are exact say nothing of how much errors grow
    if (any && kind_before < 2 && kind_now < 2)
      sample.logs.push_back(std::log(std::max(now, drift_floor) / std::max(before, drift_floor)));
  }
  return sample;
}

std::vector<double> negated(std::vector<double> values) {
  for (double& value : values) value = -value;
  return values;
}

/// The tests that can be made: infinite errors that appear, and errors that grow. An error that appears where none was
/// counts in the first, whatever its size.
double chance_of_growth(const std::vector<double>& logs, std::uint64_t appeared, std::uint64_t vanished) {
  const double grown = signed_rank_test(logs), signs = sign_test(appeared, appeared + vanished);
  return appeared + vanished == 0 ? grown : std::min(1.0, 2 * std::min(grown, signs));
}

Accuracy measured_accuracy(const Sample& sample) {
  Accuracy accuracy;
  accuracy.cases = sample.logs.size();
  accuracy.appeared = sample.appeared, accuracy.vanished = sample.vanished, accuracy.identical = sample.identical;
  accuracy.beyond = sample.beyond, accuracy.largest = sample.largest;
  accuracy.chance_worse = chance_of_growth(sample.logs, sample.appeared, sample.vanished);
  accuracy.chance_better = chance_of_growth(negated(sample.logs), sample.vanished, sample.appeared);
  if (sample.logs.empty()) return accuracy;
  accuracy.factor = std::exp(median_of(sample.logs));
  accuracy.low = std::exp(median_lower_limit(sample.logs, false_verdict_chance));
  accuracy.high = std::exp(median_upper_limit(sample.logs, false_verdict_chance));
  return accuracy;
}

/// More than the tolerated loss, or mostly errors that were not there.
bool is_shown(double chance, double limit, std::uint64_t appeared, std::uint64_t vanished) {
  const bool signs = sign_test(appeared, appeared + vanished) <= false_verdict_chance && appeared > 0;
  return chance <= false_verdict_chance && (limit > tolerated_loss || signs);
}

AccuracyVerdict verdict_of(const Accuracy& a, std::size_t strata) {
  using enum AccuracyVerdict;
  if (a.beyond > 0) return worse;
  if (a.identical || a.cases + a.appeared + a.vanished == 0) return same;
  if (is_shown(a.chance_worse, a.low, a.appeared, a.vanished)) return worse;
  if (is_shown(a.chance_better, 1 / a.high, a.vanished, a.appeared)) return better;
  const double least =
      std::ldexp(static_cast<double>(strata), -static_cast<int>(std::min<std::uint64_t>(a.cases, 1000)));
  const bool enough = least <= false_verdict_chance;  // all signs alike would have shown it
  const bool inside = a.low >= 1 / tolerated_loss && a.high <= tolerated_loss;
  return enough && inside && a.appeared == 0 && a.vanished == 0 ? same : undecided;
}

}  // namespace

std::string_view word_of(AccuracyVerdict verdict) {
  switch (verdict) {
    case AccuracyVerdict::same:
      return "same";
    case AccuracyVerdict::better:
      return "better";
    case AccuracyVerdict::worse:
      return "worse";
    case AccuracyVerdict::undecided:
      return "undecided";
  }
  return "";
}

std::string beyond_words(const Accuracy& accuracy) {
  return significant(accuracy.largest) + " times its bound" +
         (accuracy.beyond == 1 ? " in 1 case" : " at most, beyond it in " + counted(accuracy.beyond, "case"));
}

std::string text_of(const Accuracy& accuracy) {
  if (accuracy.identical) return "identical";
  if (accuracy.beyond > 0) return "worse, " + beyond_words(accuracy);
  std::string text = significant(accuracy.factor) + "x [" + significant(accuracy.low) + ", " +
                     significant(accuracy.high) + "] " + std::string(word_of(accuracy.verdict));
  if (accuracy.appeared + accuracy.vanished > 0)
    text += ", errors appeared in " + grouped(accuracy.appeared) + " and vanished in " + grouped(accuracy.vanished);
  return text;
}

std::vector<Accuracy> accuracies_of(const std::vector<PairedDrifts>& strata) {
  std::vector<Accuracy> found;
  std::vector<double> worse, better;
  for (const PairedDrifts& stratum : strata) found.push_back(measured_accuracy(sample_of(stratum)));
  for (const Accuracy& a : found) {
    if (a.identical) continue;
    worse.push_back(a.chance_worse), better.push_back(a.chance_better);
  }
  worse = holm(worse), better = holm(better);
  std::size_t at = 0;
  for (Accuracy& a : found) {
    if (!a.identical) a.chance_worse = worse[at], a.chance_better = better[at], ++at;
    a.verdict = verdict_of(a, worse.size());
  }
  return found;
}

}  // namespace tally
