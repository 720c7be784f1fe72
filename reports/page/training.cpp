#include "reports/census/census.hpp"
#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/page/training_figure.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

std::string last_of(const std::vector<double>& series) { return series.empty() ? "" : significant(series.back()); }

void training_row(Markup& page, Table& table, const TrainingRecord& t) {
  auto row = table.row(class_of(t.status));
  row.status(t.status);
  {
    const auto cell = row.open();
    page.text(t.precision + ", " + t.cut);
    page.element("small", {}, t.message);
  }
  row.cell(std::to_string(t.windows));
  row.cell(std::to_string(t.skipped));
  row.cell(last_of(t.semantic_gap));
  row.cell(last_of(t.rounding_drift));
  row.cell(last_of(t.bound));
  row.cell(last_of(t.accumulated_minus_full));
  row.cell(percent(t.accuracy_accumulated));
  row.cell(percent(t.accuracy_full));
  row.cell(significant(t.worst_local_ratio));
  row.cell(grouped(t.checks));
}

void training_table(Markup& page, const std::string& name, const std::vector<const TrainingRecord*>& records) {
  Table table(page, name + ": drift of the parameters after the last window, as a share of their norm",
              {"Verdict", "Configuration", ">Windows", ">Skipped", ">Semantic gap", ">Rounding drift", ">Bound",
               ">Accumulated \u2212 full", ">Accuracy accumulated", ">Accuracy full", ">Worst r", ">Checks"});
  for (const TrainingRecord* t : records) training_row(page, table, *t);
}

}  // namespace

void training_section(Markup& page, const Results& results) {
  if (results.training.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "training"}});
  page.element("h2", {{"id", "training"}}, "Training");
  page.element("p", {},
               "Real data, trained with accumulation and with the full batch. The semantic gap is what the recipe "
               "itself changes, without any rounding; the rounding drift is what the arithmetic adds to it.");
  std::vector<std::pair<std::string, std::vector<const TrainingRecord*>>> models;  // in the order of the records
  for (const TrainingRecord& t : results.training) {
    const std::string name = t.dataset + ", " + t.model;
    auto found = models.begin();
    while (found != models.end() && found->first != name) ++found;
    if (found == models.end()) found = models.insert(found, {name, {}});
    found->second.push_back(&t);
  }
  for (std::size_t i = 0; i < models.size(); ++i) {
    page.element("h3", {}, models[i].first);
    training_table(page, models[i].first, models[i].second);
    training_figure(page, "train-" + std::to_string(i), models[i].first, models[i].second);
  }
}

}  // namespace tally
