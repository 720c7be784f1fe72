// How the accumulate stage's curves are shown.
#include "properties/studies/sweeps/accumulate_part.hpp"

namespace tally {
namespace {

std::string buffer_text(const BufferCurve& curve) {
  return std::string(name_of(curve.rounding)) + " " + std::string(name_of(curve.kind));
}

const char* signs_text(Signs signs) { return signs == Signs::same ? "one sign" : "either sign"; }

StudyPlot plot_of(const std::vector<BufferCurve>& curves, Signs signs, std::size_t lanes) {
  StudyPlot plot{std::string("Accumulate alone, addends of ") + signs_text(signs),
                 "K, addends",
                 "drift: \u2016buffer \u2212 exact\u2016 / \u2016exact\u2016",
                 true,
                 true,
                 {}};
  for (const BufferCurve& curve : curves) {
    if (curve.signs != signs) continue;
    StudySeries series{buffer_text(curve), curve.addends, curve.drift, {}, {}};
    for (const double drift : curve.drift) {
      const Interval interval = root_mean_square_interval(drift, lanes);
      series.low.push_back(interval.low);
      series.high.push_back(interval.high);
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

const char* verdict_text(const Interval& exponent) {
  if (exponent.high < 0.5) return "slower than unbiased";
  if (exponent.high < 1) return exponent.low > 0.5 ? "between unbiased and biased" : "unbiased";
  return exponent.low > 0.5 ? "biased" : "cannot tell";
}

StudyTable exponents(const std::vector<BufferCurve>& curves) {
  StudyColumn format{"Format", {}, {}}, kind{"Buffer", {}, {}}, signs{"Addends", {}, {}},
      last{"Fitted up to K", {}, {}}, slope{"Exponent", {}, {}}, low{"95 % from", {}, {}}, high{"to", {}, {}},
      drift{"Drift there", {}, {}}, verdict{"Says", {}, {}};
  for (const BufferCurve& curve : curves) {
    const std::size_t end = curve.fitted;
    format.words.emplace_back(name_of(curve.rounding));
    kind.words.emplace_back(name_of(curve.kind));
    signs.words.emplace_back(signs_text(curve.signs));
    last.numbers.push_back(end > 0 ? curve.addends[end - 1] : 0);
    slope.numbers.push_back(curve.fit.slope);
    low.numbers.push_back(curve.fit.interval.low);
    high.numbers.push_back(curve.fit.interval.high);
    drift.numbers.push_back(end > 0 ? curve.drift[end - 1] : 0);
    verdict.words.emplace_back(verdict_text(curve.fit.interval));
  }
  return {
      "Exponent of drift against K, accumulate alone",
      "Fitted over every K from 16 on at which the plain buffer loses no addend. Unbiased rounding gives 1/2, a biased "
      "one 1; a dash: too few points.",
      {format, kind, signs, last, slope, low, high, drift, verdict}};
}

StudyTable drifts(const std::vector<BufferCurve>& curves, Signs signs) {
  StudyTable table{std::string("Drift of the accumulate stage alone, addends of ") + signs_text(signs),
                   "Relative 2-norm over all sums of the same K.",
                   {{"K", {}, {}}}};
  for (const BufferCurve& curve : curves) {
    if (curve.signs != signs) continue;
    table.columns[0].numbers = curve.addends;
    table.columns.push_back({buffer_text(curve), {}, curve.drift});
  }
  return table;
}

}  // namespace

void show_buffer_curves(Study& study, const std::vector<BufferCurve>& curves, std::size_t lanes) {
  study.tables.push_back(exponents(curves));
  for (const Signs signs : {Signs::random, Signs::same}) {
    study.plots.push_back(plot_of(curves, signs, lanes));
    study.tables.push_back(drifts(curves, signs));
  }
  study.notes.push_back(
      "Accumulate alone: every operation is rounded once in its format on the host; the exact sum is exact. " +
      std::to_string(lanes) +
      " sums for each K, with new addends for each, so that the points are independent; bars hold 95 % of where the "
      "true root mean square of normal errors lies.");
  study.notes.push_back(
      "Stagnation: an addend below half an ulp of the sum is lost whole. From the first K at which the plain buffer "
      "loses one, the drift follows another law and is not fitted; nor are the compensated buffers of that format.");
  study.notes.push_back(
      "A pairwise buffer keeps a partial sum for every power of two; a Kahan buffer keeps one compensation in the same "
      "format.");
}

}  // namespace tally
