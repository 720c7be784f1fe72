#include <cmath>

#include "oracle/case/formats.hpp"
#include "properties/studies/clopper_pearson.hpp"
#include "properties/studies/rules/tables.hpp"

namespace tally {
namespace {

/// A point with the two-sided interval of its share.
void add_point(StudySeries& series, double x, const Count& count) {
  const double side = (1 + confidence) / 2;
  series.x.push_back(x);
  series.y.push_back(share(count));
  series.low.push_back(100 * clopper_pearson_lower(count.events, count.trials, side));
  series.high.push_back(100 * clopper_pearson_upper(count.events, count.trials, side));
}

void add_series(StudyPlot& plot, StudySeries series) {
  if (!series.x.empty()) plot.series.push_back(std::move(series));
}

StudyPlot caught_against_alarms(const Scoreboard& board) {
  StudyPlot plot{"Caught against false alarms", "clean runs rejected, %", "faulty runs rejected, %", false, false, {}};
  for (std::size_t i = 0; i < judges().size(); ++i) {
    StudySeries series{judges()[i], {}, {}, {}, {}};
    for (const Dtype storage : storage_formats()) {
      const Score score = together(board, storage)[i];
      if (score.own.trials > 0 && score.clean.trials > 0) add_point(series, share(score.clean), score.own);
    }
    add_series(plot, std::move(series));
  }
  return plot;
}

StudyPlot caught_against_size(const Scoreboard& board, Dtype storage) {
  StudyPlot plot{
      "Faults caught, " + std::string(name_of(storage)), "gradient size", "faulty runs rejected, %", true, false, {}};
  for (std::size_t i = 0; i < judges().size(); ++i) {
    StudySeries series{judges()[i], {}, {}, {}, {}};
    for (const auto& [key, scores] : board.by_setting) {
      if (key.first == storage && scores[i].own.trials > 0) {
        add_point(series, std::ldexp(1.0, key.second), scores[i].own);
      }
    }
    add_series(plot, std::move(series));
  }
  return plot;
}

}  // namespace

std::vector<StudyPlot> plots_of(const Scoreboard& board) {
  std::vector<StudyPlot> plots{caught_against_alarms(board)};
  for (const Dtype storage : storage_formats()) plots.push_back(caught_against_size(board, storage));
  return plots;
}

}  // namespace tally
