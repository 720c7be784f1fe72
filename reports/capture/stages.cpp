#include <map>
#include <string>

#include "reports/capture/sections.hpp"
#include "reports/census/census.hpp"
#include "reports/html/table.hpp"
#include "reports/text/numbers.hpp"

namespace tally {
namespace {

struct StageCount {
  std::size_t checks = 0, failed = 0, vacuous = 0, not_run = 0;
  const TensorCheck* local = nullptr;       // nearest to its limit, or beyond it
  const TensorCheck* end_to_end = nullptr;  // the same
};

void count_check(StageCount& stage, const TensorCheck& check) {
  ++stage.checks;
  stage.failed += check.status == Status::fail || check.status == Status::error;
  stage.vacuous += check.status == Status::vacuous;
  stage.not_run += check.status == Status::not_run;
  if (check.status == Status::vacuous || check.status == Status::not_run) return;
  const TensorCheck*& worst = check.lens == "end_to_end" ? stage.end_to_end : stage.local;
  if (worst == nullptr || ratio_is_worse(check.worst_ratio, worst->worst_ratio)) worst = &check;
}

void nearest(Markup& page, Table::Row& row, const TensorCheck* check) {
  const auto cell = row.open();
  if (check == nullptr) return page.text("\u2013");
  page.text(significant(check->worst_ratio));
  page.element("small", {}, check->tap);
}

}  // namespace

void capture_stages_section(Markup& page, const CaptureRecord& capture) {
  const auto section = page.open("section", {{"aria-labelledby", "stages"}});
  page.element("h2", {{"id", "stages"}}, "Stages");
  Table table(page, "Tensor checks by stage, with the largest error / bound and its tensor",
              {"Stage", ">Checks", ">Failed", ">Vacuous", ">Not judged", ">By itself", ">End to end"});
  std::map<std::string, StageCount> counts;
  for (const TensorCheck& check : capture.checks) count_check(counts[check.stage], check);
  for (const std::string& stage : capture.stages) {
    const StageCount& found = counts[stage];
    auto row = table.row(found.failed > 0 ? "fail" : "other");
    row.head(stage);
    for (const std::size_t n : {found.checks, found.failed, found.vacuous, found.not_run}) row.cell(grouped(n));
    nearest(page, row, found.local);
    nearest(page, row, found.end_to_end);
  }
}

}  // namespace tally
