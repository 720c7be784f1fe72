// The sections of report.html, one file each. A section with nothing to say writes nothing.
// Defined in baseline.cpp, bound_figure.cpp, drift.cpp, drift_figure.cpp, environment.cpp, failures.cpp,
// fault_coverage.cpp, footer.cpp, header.cpp, history.cpp, kernels.cpp, kernels_figure.cpp, law_details.cpp, laws.cpp,
// overview.cpp, ratio_figure.cpp, reading.cpp, training.cpp, triggers.cpp, worst_cases.cpp.
#pragma once

#include <string>

#include "reports/html/pieces.hpp"
#include "reports/page/ranking.hpp"
#include "reports/record/record.hpp"
#include "reports/report.hpp"
#include "reports/text/markup.hpp"

namespace tally {

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

}  // namespace tally
