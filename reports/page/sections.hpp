// The sections of report.html. A section with nothing to say writes nothing. Defined in page.cpp, laws.cpp,
// failures.cpp, bounds.cpp, drift.cpp, baseline.cpp, kernels.cpp, training.cpp, coverage.cpp, studies.cpp.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "reports/census/unusual.hpp"
#include "reports/html/document.hpp"
#include "reports/record/record.hpp"
#include "reports/record/study.hpp"
#include "reports/report.hpp"
#include "reports/text/markup.hpp"

namespace tally {

// The order in which the page lists cases, made once: the failing ones, then those that are nearest to a limit for
// their kind. Links lead to the rows that are listed.

class Ranking {
 public:
  /// `results` must last as long as this object.
  explicit Ranking(const Results& results);

  const Usual& usual() const { return usual_; }
  const std::vector<const CaseRecord*>& cases() const { return cases_; }  // all
  double used(const CaseRecord& c) const { return used_.at(&c); }         // used_of()
  /// Whether it is among the first listed_cases, each of which has a row with its anchor.
  bool lists(const CaseRecord& c) const { return listed_.contains(&c); }
  /// anchor_of() with '#' in front if the case is listed; else empty.
  std::string link_to(const CaseRecord& c) const;

 private:
  Usual usual_;
  std::vector<const CaseRecord*> cases_;
  std::unordered_set<const CaseRecord*> listed_;
  std::unordered_map<const CaseRecord*, double> used_;
};

// The sections of report.html, one file each. A section with nothing to say writes nothing.

inline constexpr std::size_t listed_cases = 50;  // more would bury the worst ones; results.json has all

void header_section(Markup& page, const Results& results, const ReportContext& context, const Ranking& ranking);
void overview_section(Markup& page, const Results& results, const Ranking& ranking);
void failures_section(Markup& page, const Results& results);
void baseline_section(Markup& page, const Results& results, const ReportContext& context);
void history_section(Markup& page, const Results& results, const ReportContext& context);
void kernels_section(Markup& page, const Results& results, const Ranking& ranking);
void worst_cases_section(Markup& page, const Results& results, const Ranking& ranking);
void drift_section(Markup& page, const Results& results);
void laws_section(Markup& page, const Results& results, const Ranking& ranking);
void fault_coverage_section(Markup& page, const Results& results);
void triggers_section(Markup& page, const Results& results);
void rules_section(Markup& page, const Results& results);
void evidence_section(Markup& page, const Results& results);
void gate_section(Markup& page, const Results& results);
void training_section(Markup& page, const Results& results);
void environment_section(Markup& page, const Results& results);
void ledger_section(Markup& page, const Results& results);
void reading_section(Markup& page, const Results& results);
void footer_section(Markup& page, const Results& results);

/// The share of their bounds that operations use beyond the last rounding, beside what clean cases use.
void kernels_figure(Markup& page, const Results& results, const Usual& usual);
/// "How near to the limit", sorted excess by precision, and "Drift against the number of micro-batches": of all laws,
/// or of one.
void ratio_figure(Markup& page, const Results& results, const Ranking& ranking, const std::string& law = "");
void drift_figure(Markup& page, const Results& results, const std::string& law = "");
/// "Error against its bound", of one law or of all. One law has it only where it has failing cases: it shows absolute
/// sizes, and how near the limit everything is stands in the figure of that name.
void bound_figure(Markup& page, const Results& results, const std::string& law = "");
/// Everything about one law that its row in the table of laws has no room for.
void law_details(Markup& page, const Results& results, const LawRecord& law, const Ranking& ranking);

/// Whether the section would write anything.
bool has_failures(const Results& results);
bool has_drift(const Results& results);
bool has_kernels(const Results& results);
bool has_study(const Results& results, const std::string& family, const std::string& name = "");

// What the triggers' section says of launch paths and of options.

void reached_tables(Markup& page, const Results& results);

// A study inside a run's page: question, answer, where its numbers come from, and the rest folded.

/// `id` starts the ids of its parts.
void study_part(Markup& page, const Study& study, const std::string& id);

/// Drift by window for one model: a panel for each precision, a colour for each cut into micro-batches. The numbers at
/// the last window stand in the table before it.
void training_figure(Markup& page, const std::string& id, const std::string& name,
                     const std::vector<const TrainingRecord*>& records);

}  // namespace tally
