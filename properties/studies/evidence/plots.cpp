#include "oracle/case/formats.hpp"
#include "properties/studies/evidence/tables.hpp"

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

}  // namespace tally
