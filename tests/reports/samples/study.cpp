#include "reports/record/study.hpp"

#include <cmath>
#include <limits>

#include "tests/reports/samples/samples.hpp"

namespace tally::samples {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

StudySeries series(const std::string& name, double first) {
  StudySeries out{name, {}, {}, {}, {}};
  for (int k = 0; k <= 10; ++k) {
    out.x.push_back(std::exp2(k));
    out.y.push_back(first * std::exp2(0.5 * k));
    out.low.push_back(out.y.back() / 2);
    out.high.push_back(out.y.back() * 2);
  }
  return out;
}

StudyPlot many_series() {
  StudyPlot plot{"Drift against K", "K, micro-batches in a window", "drift, relative", true, true, {}};
  for (int i = 0; i < 13; ++i) plot.series.push_back(series("format " + std::to_string(i), std::exp2(i - 30)));
  return plot;
}

StudyPlot lanes() {
  StudyPlot plot{"Zeros and what is not finite", "loss scale", "share", true, true, {}};
  plot.series.push_back({"measured", {0, 0.3, 7, infinite}, {0, 1e-6, infinite, 0.25}, {}, {}});
  plot.series.push_back({"nothing", {}, {}, {}, {}});
  return plot;
}

StudyTable usual_excess() {
  return {excess_table,
          "",
          {{"operation", {"all", "accumulate"}, {}},
           {"format", {"fp32", "fp32"}, {}},
           {"tensors", {}, {40000, 20000}},
           {"median", {}, {0, 0}},
           {"90 %", {}, {0.05078125, 0.01953125}},
           {"99 %", {}, {0.203125, 0.1015625}},
           {"99.9 %", {}, {0.40625, 0.3125}},
           {"99.99 %", {}, {0.625, 0.5}},
           {"most", {}, {0.7, 0.6}}}};
}

}  // namespace

Study study() {
  Study study;
  study.family = "sweep";
  study.name = "sample";
  study.question = "How does drift grow with the number of micro-batches?";
  study.answer = "It grows with K to the power 0.5 (0.48 to 0.52).";
  study.status = Status::pass;
  study.seed = 7;
  study.device = "host executor";
  study.tree = "0123456789ab";
  study.plots = {many_series(), lanes(), {"Linear", "window", "share", false, false, {series("one", 1)}}};
  study.tables = {
      {"Fitted exponents",
       "The interval holds 95 %.",
       {{"buffer", {"plain", "Kahan"}, {}}, {"K", {}, {2, 1048576}}, {"exponent", {}, {0.5, std::nan("")}}}},
      {"Nothing found", "", {{"buffer", {}, {}}}}};
  study.notes = {"Addends are drawn, not measured."};
  study.environment = passing().environment;
  return study;
}

std::vector<Study> studies() {
  std::vector<Study> all = {study(), study(), study(), study(), study()};
  all[1].family = "bench", all[1].name = "rules";
  all[2].family = "bench", all[2].name = "tolerances";
  all[3].family = "bench", all[3].name = "gate";
  all[4].family = "bench", all[4].name = "excess", all[4].tables = {usual_excess()};
  return all;
}

Study hostile_study() {
  Study study = samples::study();
  const std::string hostile = "<script>alert(1)</script>\"'&|`\x1b[31m";
  for (std::string* text : {&study.question, &study.answer, &study.message, &study.device, &study.tables[0].title,
                            &study.tables[0].note, &study.tables[0].columns[0].name, &study.plots[0].title,
                            &study.plots[0].up, &study.plots[0].along, &study.plots[0].series[0].name})
    *text = hostile;
  study.tables[0].columns[0].words = {hostile, hostile};
  study.notes = {hostile};
  study.status = Status::fail;
  study.partial = true;
  study.name = "hostile";
  return study;
}

}  // namespace tally::samples
