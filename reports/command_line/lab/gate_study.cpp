// How often the gate is wrong and what it finds: identical builds, builds that add in another order, and builds whose
// kernels err more by a known factor. It stands here because it takes campaigns and gates both.
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "oracle/case/tensors/tensor.hpp"
#include "properties/campaign/campaign.hpp"
#include "properties/lab/study.hpp"
#include "reports/gate/gate.hpp"
#include "reports/text/text.hpp"

namespace tally::command_line::gate_study {
namespace {

constexpr int seeds_at_effort_one = 200, cases_of_a_seed = 24;
constexpr double losses[] = {1.1, 1.2, 1.3, 1.5};
constexpr double demanded_at = 1.3, demanded_share = 0.95;

CampaignOptions campaign_of(const StudyOptions& options, std::uint64_t order) {
  CampaignOptions campaign;
  campaign.subject = options.subject;
  campaign.subject.order_seed = order;
  campaign.precisions = storage_formats();
  campaign.seed = options.seed;
  campaign.processes = options.processes;
  campaign.interrupted = options.interrupted;
  campaign.shrink = campaign.training = campaign.steered = false;
  return campaign;
}

/// As of kernels that need not repeat, so that errors are tested in place of bits.
Results varying(Results results) {
  for (CaseRecord& c : results.cases)
    for (OperationRecord& o : c.operations) o.repeats = false;
  return results;
}

bool is_interrupted(const StudyOptions& options) { return options.interrupted && *options.interrupted; }

struct FalseVerdicts {
  std::uint64_t pairs = 0, closed = 0;                             // identical builds, and those the gate was closed to
  std::uint64_t strata = 0, worse = 0, better = 0, undecided = 0;  // of builds that add in another order
};

/// One small campaign three times: twice the same, once with the products of linear layers added in another order.
void add_seed(FalseVerdicts& found, const StudyOptions& options, std::uint64_t number) {
  CampaignOptions first = campaign_of(options, 1), second = campaign_of(options, 2);
  for (CampaignOptions* campaign : {&first, &second}) {
    campaign->law_glob = "partition_equals_full_batch";
    campaign->precisions = {storage_formats()[number % storage_formats().size()]};
    campaign->cases = cases_of_a_seed;
    campaign->seed = options.seed + number;
  }
  const Results a = run_campaign(first), same = run_campaign(first), other = run_campaign(second);
  if (is_interrupted(options)) return;
  ++found.pairs;
  found.closed += gate(same, baseline_of(a)).exit_code != 0;
  for (const OperationChange& change : compared(entries_of(varying(a)), entries_of(varying(other))).operations) {
    ++found.strata;
    found.worse += change.accuracy.verdict == AccuracyVerdict::worse;
    found.better += change.accuracy.verdict == AccuracyVerdict::better;
    found.undecided += change.accuracy.verdict == AccuracyVerdict::undecided;
  }
}

/// A kernel in a precision, whose errors were made larger by each of the losses.
struct Rung {
  std::string operation, variant, precision;
  std::uint64_t cases = 0;
  std::vector<bool> found;
  double low = 1, high = 1;  // limits of the median at the loss demanded
};

/// Both builds ran the same variants.
const OperationChange& change_of(const Comparison& comparison, const Rung& rung) {
  const auto same = [&rung](const OperationChange& o) {
    return o.operation == rung.operation && o.variant_now == rung.variant && o.precision == rung.precision;
  };
  return *std::find_if(comparison.operations.begin(), comparison.operations.end(), same);
}

std::vector<CaseEntry> with_loss(std::vector<CaseEntry> entries, const Rung& rung, double loss) {
  for (CaseEntry& entry : entries)
    for (OperationRecord& o : entry.operations)
      if (entry.precision == rung.precision && o.operation == rung.operation && o.variant == rung.variant)
        o.drift *= loss;
  return entries;
}

/// Kernels that err at all: what is exact has no error to grow.
std::vector<Rung> ladder(const StudyOptions& options) {
  CampaignOptions first = campaign_of(options, 1), second = campaign_of(options, 2);
  first.effort = second.effort = options.effort;
  const auto before = entries_of(varying(run_campaign(first))), now = entries_of(varying(run_campaign(second)));
  std::set<std::tuple<std::string, std::string, std::string>> erring;
  for (const CaseEntry& entry : before)
    for (const OperationRecord& o : entry.operations)
      if (o.drift > drift_floor) erring.emplace(o.operation, o.variant, entry.precision);
  std::vector<Rung> rungs;
  for (const auto& [operation, variant, precision] : erring) {
    if (is_interrupted(options)) break;
    Rung rung{operation, variant, precision, 0, {}, 1, 1};
    for (const double loss : losses) {
      const Comparison comparison = compared(before, with_loss(now, rung, loss));
      const OperationChange& change = change_of(comparison, rung);
      rung.found.push_back(change.accuracy.verdict == AccuracyVerdict::worse);
      rung.cases = change.cases;
      if (loss == demanded_at) rung.low = change.accuracy.low, rung.high = change.accuracy.high;
    }
    rungs.push_back(rung);
  }
  return rungs;
}

double share_found(const std::vector<Rung>& rungs, std::size_t loss) {
  const auto found = std::count_if(rungs.begin(), rungs.end(), [loss](const Rung& r) { return r.found[loss]; });
  return rungs.empty() ? 0 : static_cast<double>(found) / static_cast<double>(rungs.size());
}

StudyTable verdicts_table(const FalseVerdicts& f) {
  return {"False verdicts",
          "Identical builds must give identical results. Builds that differ in the order of additions alone are tested "
          "as if their kernels need not repeat.",
          {{"what",
            {"pairs of identical builds", "gates closed to them", "operations of builds that add in another order",
             "called worse", "called better", "left undecided"},
            {}},
           {"count",
            {},
            {double(f.pairs), double(f.closed), double(f.strata), double(f.worse), double(f.better),
             double(f.undecided)}}}};
}

StudyTable power_table(const std::vector<Rung>& rungs) {
  StudyTable table{"What is found",
                   "Kernels, each in each precision, whose errors grew by the factor and nothing else's.",
                   {{"factor", {}, {}}, {"kernels", {}, {}}, {"share called worse", {}, {}}}};
  for (std::size_t i = 0; i < std::size(losses); ++i) {
    table.columns[0].numbers.push_back(losses[i]);
    table.columns[1].numbers.push_back(static_cast<double>(rungs.size()));
    table.columns[2].numbers.push_back(share_found(rungs, i));
  }
  return table;
}

StudyTable kernels_table(const std::vector<Rung>& rungs) {
  StudyTable table{"By kernel",
                   "The smallest factor that was called worse; limits of the median of now / before at 1.3.",
                   {{"kernel", {}, {}},
                    {"precision", {}, {}},
                    {"cases", {}, {}},
                    {"smallest factor found", {}, {}},
                    {"lower limit", {}, {}},
                    {"upper limit", {}, {}}}};
  for (const Rung& rung : rungs) {
    const auto first = std::find(rung.found.begin(), rung.found.end(), true);
    table.columns[0].words.push_back(rung.operation + "/" + rung.variant),
        table.columns[1].words.push_back(rung.precision);
    table.columns[2].numbers.push_back(static_cast<double>(rung.cases));
    table.columns[3].numbers.push_back(first == rung.found.end() ? std::nan("") : losses[first - rung.found.begin()]);
    table.columns[4].numbers.push_back(rung.low), table.columns[5].numbers.push_back(rung.high);
  }
  return table;
}

StudyPlot power_plot(const std::vector<Rung>& rungs) {
  StudyPlot plot{"What is found", "factor by which errors grew", "share called worse", false, false, {}};
  StudySeries series{"kernels in a precision", {}, {}, {}, {}};
  for (std::size_t i = 0; i < std::size(losses); ++i)
    series.x.push_back(losses[i]), series.y.push_back(share_found(rungs, i));
  plot.series = {series};
  return plot;
}

void settle(Study& study, const FalseVerdicts& f, const std::vector<Rung>& rungs) {
  const double share = share_found(rungs, 2);
  const std::uint64_t wrong = f.closed + f.worse + f.better;
  const double limit = f.pairs == 0 ? 1 : 1 - std::pow(0.05, 1 / static_cast<double>(f.pairs));
  study.answer = grouped(wrong) + " false verdicts in " + grouped(f.pairs) + " pairs of identical builds and " +
                 grouped(f.strata) + " operations of builds that add in another order" +
                 (wrong == 0 ? " (a pair at most " + percent(limit) + ", at 95 % confidence)" : "") +
                 "; errors that grew 1.3 times are found in " + percent(share) + " of " +
                 counted(rungs.size(), "kernel") + " in a precision, 1.1 times in " + percent(share_found(rungs, 0)) +
                 ".";
  const bool holds = wrong == 0 && share >= demanded_share;
  study.status = f.pairs == 0 || rungs.empty() ? Status::not_run : holds ? Status::pass : Status::fail;
  if (study.status == Status::fail) study.message = study.answer;
}

Study measured(const StudyOptions& options) {
  Study study;
  FalseVerdicts verdicts;
  const int seeds = std::max(1, static_cast<int>(std::lround(seeds_at_effort_one * options.effort)));
  for (int i = 0; i < seeds && !is_interrupted(options); ++i) {
    add_seed(verdicts, options, static_cast<std::uint64_t>(i));
    options.progress("[" + std::to_string(i + 1) + "/" + std::to_string(seeds) + "] seeds");
  }
  const std::vector<Rung> rungs = ladder(options);
  study.tables = {verdicts_table(verdicts), power_table(rungs), kernels_table(rungs)};
  study.plots = {power_plot(rungs)};
  study.notes = {
      "A build whose errors grew is the one that adds in another order, with the drift of one operation in one "
      "precision multiplied: its cases keep the noise that another order leaves in them."};
  settle(study, verdicts, rungs);
  return study;
}

const Register<StudyRunner> registered{{
    .family = "bench",
    .name = "gate",
    .question = "How often does the gate call equal builds different, and which losses of accuracy does it find?",
    .run = measured,
}};

}  // namespace
}  // namespace tally::command_line::gate_study
