#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "reports/report.hpp"

namespace tally {

std::vector<FileText> report_files(const Results& results, const std::filesystem::path& folder,
                                   const ReportContext& context) {
  return {{(folder / "results.json").string(), to_json(results)},
          {(folder / "report.html").string(), report_html(results, context)},
          {(folder / "junit.xml").string(), junit_xml(results)},
          {(folder / "summary.md").string(), summary_markdown(results)}};
}

void write_report(const Results& results, const std::filesystem::path& folder, const ReportContext& context) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder))
    throw std::runtime_error("cannot write the report to " + folder.string() + ": " +
                             (error ? error.message() : "it is not a folder"));
  write_together(report_files(results, folder, context));
}

}  // namespace tally
