#include "properties/studies/evidence/ordinary_tables.hpp"

#include "properties/studies/clopper_pearson.hpp"
#include "properties/studies/evidence/assumptions.hpp"
#include "properties/studies/evidence/table_rows.hpp"

namespace tally {
namespace {

void put_verdicts(TableRows& rows, const Stratum& s) {
  rows.count("networks", s.cases).count("checks", s.checks).count("with an alarm", s.alarmed);
  rows.number("at most % (95 %)", 100 * clopper_pearson_upper(s.alarmed, s.cases));
  rows.count("refused", s.refused).number("at most, % (95 %)", 100 * clopper_pearson_upper(s.refused, s.cases));
}

void put_nearness(TableRows& rows, const Stratum& s) {
  rows.number("r median", s.ratios.quantile(0.5)).number("r worst", s.worst);
  rows.number("least likely finding, log10", s.least_chance);
}

StudyTable by_size(const Strata& strata) {
  TableRows rows(
      "Ordinary networks by size",
      "Widths of hidden layers; \"true\" counts elements of a weight. Refused: a vacuous verdict on a network "
      "that has gradients.");
  for (const std::string& size : strata.next({"ordinary", "size"})) {
    for (const std::string& precision : strata.next({"ordinary", "size", size})) {
      const Stratum s = strata.sum({"ordinary", "size", size, precision});
      rows.word("size", size).word("precision", precision);
      put_verdicts(rows, s);
      put_nearness(rows, s);
    }
  }
  return std::move(rows).table();
}

StudyTable by_structure(const Strata& strata) {
  TableRows rows("Ordinary networks by what they are made of",
                 "Each network stands in one row of every stratum. Upper limits are Clopper and Pearson's.");
  for (const std::string& trait : strata.next({"ordinary"})) {
    if (trait == "all" || trait == "size") continue;
    for (const std::string& value : strata.next({"ordinary", trait})) {
      const Stratum s = strata.sum({"ordinary", trait, value});
      rows.word("stratum", trait).word("of", value);
      put_verdicts(rows, s);
      put_nearness(rows, s);
    }
  }
  return std::move(rows).table();
}

StudyTable by_part_of_strata(const Strata& strata) {
  TableRows rows("Ordinary networks by part and size, local lens",
                 "A false model of rounding errors shows where the least likely finding falls with the size.");
  for (const std::string& size : strata.next({"ordinary stage"})) {
    for (const std::string& part : strata.next({"ordinary stage", size})) {
      const Stratum s = strata.sum({"ordinary stage", size, part});
      rows.word("size", size).word("part", part).count("networks", s.cases).count("checks", s.checks);
      rows.count("with an alarm", s.alarmed).count("elements", s.ratios.count());
      put_nearness(rows, s);
    }
  }
  return std::move(rows).table();
}

StudyTable assumptions() {
  TableRows rows("Which assumption a stratum tests", "Names as in the ledger of every report.");
  for (const TestedAssumption& tested : tested_assumptions()) {
    rows.word("stratum", tested.stratum).word("assumption", tested.assumption).word("how", tested.how);
  }
  return std::move(rows).table();
}

}  // namespace

Stratum ordinary_networks(const Strata& strata) { return strata.sum({"ordinary", "all"}); }

std::vector<StudyTable> ordinary_tables(const Strata& strata) {
  return {by_size(strata), by_structure(strata), by_part_of_strata(strata), assumptions()};
}

}  // namespace tally
