// A run's results, rendered for everyone who reads them: page, terminal, JUnit, job summary.
// Defined in reports/report.cpp, reports/page/page.cpp, reports/summary/junit.cpp,
// reports/summary/summary.cpp, reports/summary/terminal.cpp, report.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "reports/compare/comparison.hpp"
#include "reports/gate/baseline.hpp"
#include "reports/history/history.hpp"
#include "reports/record/files.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// What a page may show beside its results.
struct ReportContext {
  std::optional<Baseline> baseline;
  std::vector<HistoryEntry> history;  // earlier runs, the oldest first
  FileOfKernel file_of = {};          // names the sources of kernels that changed; empty: none is named
};

/// results.json, first, report.html, junit.xml and summary.md, as they are to stand in the folder.
std::vector<FileText> report_files(const Results& results, const std::filesystem::path& folder,
                                   const ReportContext& context = {});
/// Writes them, all whole or none at all; makes the folder. Throws std::runtime_error naming what cannot be written.
void write_report(const Results& results, const std::filesystem::path& folder, const ReportContext& context = {});

/// One line that says it all: "PASS  5,184 tensor checks inside their bounds".
std::string verdict_sentence(const Results& results);

/// The exit code that a run of these results ends in: 0 pass, 1 fail, 3 error, 4 nothing ran or all of it vacuous.
int exit_code_of(const Results& results);

/// Verdict, laws, faults and worst cases as plain text, without colour.
std::string terminal_summary(const Results& results);

std::string report_html(const Results& results, const ReportContext& context = {});
std::string junit_xml(const Results& results);
/// At most `limit` bytes: continuous integration drops longer summaries whole.
std::string summary_markdown(const Results& results, std::size_t limit = 900'000);

}  // namespace tally
