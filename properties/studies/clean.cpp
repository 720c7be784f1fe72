// No law calls a correct program wrong: every law over drawn cases, in all precisions, under drawn orders of additions
// and of threads.
#include <algorithm>
#include <array>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/io.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/campaign/plan_source.hpp"
#include "properties/evidence/table_rows.hpp"
#include "properties/generators/random_plan.hpp"
#include "properties/studies/clopper_pearson.hpp"
#include "properties/studies/jobs.hpp"
#include "properties/studies/wording.hpp"

namespace tally {
namespace {

constexpr std::array storages{Dtype::fp32, Dtype::fp16, Dtype::bf16};
constexpr double cases_at_effort_one_here = 3000;

/// What one law came to in one precision.
struct Count {
  std::uint64_t cases = 0, alarms = 0, vacuous = 0, not_run = 0, checks = 0;
  std::uint64_t first_alarm = 0;  // counted from 1

  void add(const Count& other) {
    cases += other.cases, alarms += other.alarms, vacuous += other.vacuous, not_run += other.not_run;
    checks += other.checks;
  }
};

struct Cell {
  const Law* law;
  Dtype storage;
};

std::vector<Cell> all_cells() {
  std::vector<Cell> cells;
  for (const Law* law : laws()) {
    for (const Dtype storage : storages) cells.push_back({law, storage});
  }
  return cells;
}

std::uint64_t seed_of(const Cell& cell, std::uint64_t seed) {
  const std::string text = "clean" + std::to_string(seed) + cell.law->name + std::string(name_of(cell.storage));
  return std::stoull(sha256(text).substr(0, 15), nullptr, 16);
}

/// Independent draws: nothing is rewarded, so nothing is bred.
class Draws {
 public:
  Draws(const Cell& cell, std::uint64_t seed, std::size_t cases)
      : cell_(cell),
        source_(cell.storage, seed_of(cell, seed), static_cast<int>(cases)),
        random_(seed_of(cell, seed) | 1) {}

  Case next_case() {
    Plan plan = source_.next();
    if (cell_.law->any_values) draw_values(plan);
    if (cell_.law->shape) cell_.law->shape(plan);
    return case_of(plan);
  }
  Subject next_subject(Subject subject) {
    subject.order_seed = random_.below(2) == 0 ? 0 : random_.next() | 1;
    subject.schedule_seed = random_.below(2) == 0 ? 0 : random_.next() | 1;
    return subject;
  }

 private:
  const Cell& cell_;
  PlanSource source_;
  executor::Schedule random_;
};

Count counted(const Cell& cell, std::size_t cases, const StudyOptions& options) {
  Draws draws(cell, options.seed, cases);
  Count count;
  while (count.cases < cases) {
    const Case c = draws.next_case();
    const Outcome outcome = outcome_of(*cell.law, c, draws.next_subject(options.subject));
    ++count.cases;
    count.checks += outcome.checks.size();
    count.vacuous += outcome.status == Status::vacuous;
    count.not_run += outcome.status == Status::not_run;
    if (outcome.status != Status::fail && outcome.status != Status::error) continue;
    if (count.alarms++ == 0) count.first_alarm = count.cases;
  }
  return count;
}

/// What the alarm said, from its case drawn again.
std::string alarm_text(const Cell& cell, std::size_t cases, const Count& count, const StudyOptions& options) {
  Draws draws(cell, options.seed, cases);
  for (std::uint64_t i = 1; i < count.first_alarm; ++i) draws.next_case(), draws.next_subject(options.subject);
  const Case c = draws.next_case();
  const Outcome outcome = outcome_of(*cell.law, c, draws.next_subject(options.subject));
  return cell.law->name + ", " + std::string(name_of(cell.storage)) + ": " + outcome.message + "; " + token_of(c);
}

Numbers numbers_of(const Count& c) {
  return {double(c.cases),   double(c.alarms), double(c.vacuous),
          double(c.not_run), double(c.checks), double(c.first_alarm)};
}

Count count_of(const Numbers& n) {
  if (n.empty()) return {};  // not begun when the study was interrupted
  const auto whole = [&](std::size_t i) { return static_cast<std::uint64_t>(n[i]); };
  return {whole(0), whole(1), whole(2), whole(3), whole(4), whole(5)};
}

void put(TableRows& rows, const Count& count) {
  rows.count("cases", count.cases).count("alarms", count.alarms).count("vacuous", count.vacuous);
  rows.count("not run", count.not_run).count("checks", count.checks);
  const std::uint64_t judged = count.cases - count.vacuous - count.not_run;
  rows.number("cases with an alarm, at most % (95 %)", 100 * clopper_pearson_upper(count.alarms, judged));
}

StudyTable by_law(const std::vector<Cell>& cells, const std::vector<Count>& counts) {
  TableRows rows("False alarms by law", "The share is of cases that were judged: neither vacuous nor not run.");
  for (const Law* law : laws()) {
    Count sum;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].law == law) sum.add(counts[i]);
    }
    rows.word("law", law->name);
    put(rows, sum);
  }
  return std::move(rows).table();
}

StudyTable by_precision(const std::vector<Cell>& cells, const std::vector<Count>& counts) {
  TableRows rows("False alarms by precision", "");
  for (const Dtype storage : storages) {
    Count sum;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].storage == storage) sum.add(counts[i]);
    }
    rows.word("precision", std::string(name_of(storage)));
    put(rows, sum);
  }
  return std::move(rows).table();
}

std::string answer_of(const Count& all) {
  const std::uint64_t judged = all.cases - all.vacuous - all.not_run;
  return std::to_string(all.alarms) + " false alarms in " + std::to_string(judged) + " judged cases of " +
         std::to_string(all.cases) + " drawn for " + std::to_string(laws().size()) +
         " laws: at 95 % confidence fewer than " + three_digits(100 * clopper_pearson_upper(all.alarms, judged)) +
         " % of such cases raise one.";
}

Study run(const StudyOptions& options) {
  const auto cells = all_cells();
  const std::size_t cases = std::max<std::size_t>(1, scaled(options, cases_at_effort_one_here, 1) / cells.size());
  const auto numbers = run_jobs(
      options, cells.size(), [&](std::size_t i) { return numbers_of(counted(cells[i], cases, options)); },
      [&](std::size_t i) { return cells[i].law->name + " " + std::string(name_of(cells[i].storage)); });
  Study study;
  std::vector<Count> counts;
  Count all;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    counts.push_back(count_of(numbers[i]));
    all.add(counts[i]);
    if (counts[i].alarms > 0)
      study.message += (study.message.empty() ? "" : " | ") + alarm_text(cells[i], cases, counts[i], options);
  }
  study.device = options.subject.executor == ExecutorKind::cuda ? "cuda" : "host";
  study.tables = {by_law(cells, counts), by_precision(cells, counts)};
  study.answer = answer_of(all);
  study.status = all.alarms == 0 ? Status::pass : Status::fail;
  study.notes = {
      "Every law gets as many cases in fp32, fp16 and bf16 each, drawn independently as the campaign draws them, but "
      "none bred from another; orders of additions and of threads are drawn in every second case each.",
      "The limit is Clopper and Pearson's for independent draws; of cases drawn otherwise it says nothing.",
  };
  return study;
}

const RegisterStudy registered{{
    .family = "bench",
    .name = "clean",
    .question = "How often does a law call a correct program wrong?",
    .run = run,
}};

}  // namespace
}  // namespace tally
