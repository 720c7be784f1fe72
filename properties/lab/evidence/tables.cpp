// The evidence as tables and plots of a study.
#include "properties/lab/evidence/tables.hpp"

#include <array>

#include "oracle/case/tensors/tensor.hpp"
#include "properties/lab/evidence/adversarial.hpp"
#include "properties/lab/evidence/table_rows.hpp"
#include "properties/lab/statistics.hpp"

namespace tally {
namespace {

StudySeries cumulative(const std::string& name, const RatioHistogram& ratios) {
  StudySeries series{name, {}, {}, {}, {}};
  std::uint64_t reached = 0;
  for (int bin = 0; bin + 1 < RatioHistogram::bins; ++bin) {
    reached += ratios.count_in(bin);
    if (reached == 0) continue;
    series.x.push_back(RatioHistogram::lower_edge(bin + 1));
    series.y.push_back(static_cast<double>(reached) / static_cast<double>(ratios.count()));
  }
  return series;
}

StudyPlot distribution(const Strata& strata) {
  StudyPlot plot{"How much of its bound an element uses",
                 "r = error / bound",
                 "share of elements with at most this r",
                 true,
                 false,
                 {}};
  for (const std::string& precision : names_of(storage_formats())) {
    plot.series.push_back(cumulative(precision, strata.sum({"precision", "local", precision}).ratios));
  }
  return plot;
}

/// Parts by number, in the order of the tables; points at the median, from the first tenth to the worst.
StudyPlot plot_by_part(const Strata& strata) {
  StudyPlot plot{"r of each part, local lens",
                 "part, numbered as the table lists them",
                 "r: tenth, median, worst",
                 false,
                 true,
                 {}};
  const auto parts = strata.parts("local");
  for (const std::string& precision : names_of(storage_formats())) {
    StudySeries series{precision, {}, {}, {}, {}};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Stratum s = strata.sum({"stage", "local", precision, parts[i]});
      if (s.ratios.count() == 0) continue;
      series.x.push_back(static_cast<double>(i + 1));
      series.y.push_back(s.ratios.quantile(0.5));
      series.low.push_back(s.ratios.quantile(0.1));
      series.high.push_back(s.worst);
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

}  // namespace

std::vector<StudyPlot> evidence_plots(const GatheredEvidence& evidence) {
  return {distribution(evidence.strata), plot_by_part(evidence.strata)};
}

namespace {

constexpr std::array lenses{"local", "end_to_end"};

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

void put_alarms(TableRows& rows, const Stratum& s) {
  rows.count("cases", s.cases).count("checks", s.checks).count("alarms", s.alarms);
  rows.number("cases with an alarm, at most % (95 %)", 100 * clopper_pearson_upper(s.alarmed, s.cases));
}

void put_ratios(TableRows& rows, const Stratum& s) {
  rows.count("elements", s.ratios.count());
  for (const auto& [name, share] : {std::pair{"r median", 0.5}, {"r 90 %", 0.9}, {"r 99 %", 0.99}}) {
    rows.number(name, s.ratios.quantile(share));
  }
  rows.number("r worst", s.worst);
}

StudyTable figures(const GatheredEvidence& evidence) {
  TableRows rows("What is demanded", "");
  for (const Figure& figure : figures_of(evidence)) {
    rows.word("figure", figure.name).word("demanded", figure.demanded).word("found", figure.found);
    rows.word("met", figure.met ? "yes" : "no");
  }
  return std::move(rows).table();
}

StudyTable by_precision(const Strata& strata) {
  TableRows rows("False alarms by precision and lens",
                 "Cases are the independent draws; elements with a bound and an error.");
  for (const char* lens : lenses) {
    for (const std::string& precision : names_of(storage_formats())) {
      const Stratum s = strata.sum({"precision", lens, precision});
      rows.word("lens", lens).word("precision", precision);
      put_alarms(rows, s);
      put_ratios(rows, s);
    }
  }
  return std::move(rows).table();
}

StudyTable by_part(const Strata& strata, const std::string& lens, const std::string& title) {
  TableRows rows(title, "A part without elements is exact: its bits are known. r median 0 means that.");
  std::uint64_t number = 0;
  for (const std::string& part : strata.parts(lens)) {
    ++number;
    for (const std::string& precision : names_of(storage_formats())) {
      const Stratum s = strata.sum({"stage", lens, precision, part});
      if (s.cases == 0) continue;
      rows.count("no.", number).word("part", part).word("precision", precision);
      put_alarms(rows, s);
      put_ratios(rows, s);
    }
  }
  return std::move(rows).table();
}

StudyTable by_depth(const Strata& strata) {
  TableRows rows(
      "Vacuous checks by lens and depth",
      "Depth is the number of linear layers. Hand-overs and tensors that are zero throughout are in no share.");
  for (const char* lens : lenses) {
    for (const std::string& precision : names_of(storage_formats())) {
      for (const std::string& depth : strata.next({"depth", lens, precision})) {
        const Stratum s = strata.sum({"depth", lens, precision, depth});
        rows.word("lens", lens).word("precision", precision).word("depth", depth).count("checks", s.judged);
        rows.count("vacuous", s.vacuous).number("vacuous, %", percent(s.vacuous, s.judged));
      }
    }
  }
  return std::move(rows).table();
}

StudyTable gradients(const Strata& strata) {
  TableRows rows("First-window gradients that the end-to-end bound holds",
                 "One tensor a parameter; informative where the bound is smaller than the gradient, in the 2-norm.");
  for (const std::string& precision : names_of(storage_formats())) {
    for (const std::string& depth : strata.next({"gradient", precision})) {
      for (const std::string& items : strata.next({"gradient", precision, depth})) {
        const Stratum s = strata.sum({"gradient", precision, depth, items});
        rows.word("precision", precision).word("depth", depth).word("items a micro-batch", items);
        rows.count("gradients", s.judged).number("informative, %", percent(s.judged - s.vacuous, s.judged));
      }
    }
  }
  return std::move(rows).table();
}

/// Two labels after the first: kernels by variant, orders.
StudyTable by_pair(const Strata& strata, const std::string& what, const std::string& title, const std::string& first,
                   const std::string& second, const std::string& note) {
  TableRows rows(title, note);
  for (const std::string& a : strata.next({what})) {
    for (const std::string& b : strata.next({what, a})) {
      const Stratum s = strata.sum({what, a, b});
      rows.word(first, a).word(second, b);
      put_alarms(rows, s);
      rows.number("r median", s.ratios.quantile(0.5)).number("r worst", s.worst);
    }
  }
  return std::move(rows).table();
}

StudyTable hard(const Strata& strata) {
  TableRows rows("Hard cases",
                 "All precisions together; vacuous is the share of checks whose bound exceeds the signal.");
  for (const HardFamily& family : hard_families()) {
    for (const char* lens : lenses) {
      const Stratum s = strata.sum({"hard", family.name, lens});
      rows.word("family", family.name).word("hurts", family.hurts).word("lens", lens);
      rows.count("cases", s.cases).count("checks", s.checks).count("alarms", s.alarms);
      rows.number("vacuous, %", percent(s.vacuous, s.judged));
      rows.number("r median", s.ratios.quantile(0.5)).number("r worst", s.worst);
    }
  }
  return std::move(rows).table();
}

StudyTable climbs(const Climbs& all) {
  TableRows rows("The search for a broken bound",
                 "Worst local r of a part: in the drawn case, and where the search ended.");
  for (const auto& [place, climb] : all) {
    rows.word("part", place.second).word("precision", place.first).number("r at first", climb.first);
    rows.number("r at best", climb.best).count("steps that raised it", climb.improved).word("at", climb.tap);
  }
  return std::move(rows).table();
}

StudyTable worst(const Strata& strata) {
  TableRows rows("Where the worst elements stand",
                 "Clean cases by number: a case is made from the seed and its number alone.");
  for (const char* lens : lenses) {
    for (const std::string& precision : names_of(storage_formats())) {
      const Stratum s = strata.sum({"precision", lens, precision});
      rows.word("lens", lens).word("precision", precision).count("case", s.worst_case).word("tap", s.worst_tap);
      rows.number("r", s.worst);
    }
  }
  return std::move(rows).table();
}

StudyTable alarms(const Strata& strata) {
  TableRows rows("Alarms", "Each failing check, with the case to replay.");
  for (const auto& [labels, s] : strata.all()) {
    if (labels.front() != "alarm") continue;
    rows.word("among", labels[1]).count("case", s.worst_case).word("lens", labels[2]).word("tap", labels[3]);
    rows.number("r", s.worst).word("replay", labels[4]);
  }
  return std::move(rows).table();
}

StudyTable refusals(const Strata& strata) {
  TableRows rows("Refusals", "Each case whose verdict is vacuous though it has gradients, with what replays it.");
  for (const auto& [labels, s] : strata.all()) {
    if (labels.front() != "refusal") continue;
    rows.word("among", labels[1]).word("case", labels[2]).word("reason", labels[3]).word("replay", labels[4]);
  }
  return std::move(rows).table();
}

}  // namespace

std::vector<StudyTable> evidence_tables(const GatheredEvidence& evidence) {
  const Strata& strata = evidence.strata;
  std::vector<StudyTable> tables{
      figures(evidence),
      by_precision(strata),
      by_part(strata, "local", "r by part, local lens"),
      by_part(strata, "end_to_end", "r by part, end to end"),
      by_depth(strata),
      gradients(strata),
      by_pair(strata, "variant", "Local checks by kernel", "operation", "variant",
              "A kernel's checks are those of the part it works in, which several kernels may share."),
      by_pair(strata, "format", "All checks by format", "of", "format",
              "Beside the storage format, drawn for every fourth case; every combination that a case may name."),
      by_pair(
          strata, "order", "All checks by order", "additions", "threads",
          "Additions: of matrix products, an order drawn for every product. Threads: which of the ready ones goes on."),
      hard(strata),
      climbs(evidence.climbs),
      worst(strata),
  };
  for (StudyTable& table : ordinary_tables(strata)) tables.push_back(std::move(table));
  if (!strata.next({"refusal"}).empty()) tables.push_back(refusals(strata));
  if (!strata.next({"alarm"}).empty()) tables.push_back(alarms(strata));
  return tables;
}

}  // namespace tally
