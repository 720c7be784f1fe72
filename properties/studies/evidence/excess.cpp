#include "properties/studies/evidence/excess.hpp"

#include <algorithm>

#include "properties/operations/operation.hpp"
#include "properties/studies/evidence/table_rows.hpp"
#include "reports/record/excess_table.hpp"

namespace tally {
namespace {

/// Of all tensors, those of excess 0 too.
double quantile(const Stratum& s, double share) {
  const double positive = static_cast<double>(s.ratios.count()), all = static_cast<double>(s.judged);
  const double rank = share * all - (all - positive);
  return rank > 0 ? s.ratios.quantile(rank / positive) : 0;
}

}  // namespace

void count_excess(Strata& strata, const Case& c, const EvidenceRun& held) {
  const auto formats = formats_written(c, held.trace);
  for (const TensorCheck& check : held.checks) {
    if (check.lens != "local" || check.status != Status::pass) continue;
    const std::string operation = operation_writing(c, tap_name_of(check.tap));
    const auto format = formats.find(operation);
    if (format == formats.end()) continue;
    for (const std::string& of : {operation, std::string("all")}) {
      Stratum& stratum = strata.at({"excess", of, format->second});
      ++stratum.checks, ++stratum.judged;
      if (check.excess > 0) stratum.ratios.add(check.excess);
      stratum.worst = std::max(stratum.worst, check.excess);
    }
  }
}

StudyTable excess_of(const Strata& strata, const std::string& only) {
  TableRows rows(
      only.empty() ? excess_table : "Of " + only + " operations",
      "Of tensors: the largest (error - u) / (bound - u) of an element, u half an ulp as stored; 0 where no "
      "error is larger than the last rounding's, where a bound has no room for a second, and where one value "
      "alone is right.");
  for (const std::string& operation : strata.next({"excess"})) {
    if (!only.empty() && operation != only) continue;
    for (const std::string& format : strata.next({"excess", operation})) {
      const Stratum s = strata.sum({"excess", operation, format});
      rows.word("operation", operation).word("format", format).count("tensors", s.judged);
      for (const auto& [name, share] :
           {std::pair{"median", 0.5}, {"90 %", 0.9}, {"99 %", 0.99}, {"99.9 %", 0.999}, {"99.99 %", 0.9999}})
        rows.number(name, quantile(s, share));
      rows.number("most", s.worst);
    }
  }
  return std::move(rows).table();
}

}  // namespace tally
