#include "properties/studies/language_models/tables.hpp"

#include <algorithm>
#include <limits>

#include "oracle/case/formats.hpp"
#include "properties/studies/evidence/table_rows.hpp"
#include "properties/studies/language_models/element_counts.hpp"
#include "properties/studies/language_models/family.hpp"

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

}  // namespace tally
