// Writes the report of every sample to FOLDER/<name>/ and the sample studies to FOLDER/studies/, for the tests that
// look at pages.
#include <filesystem>
#include <iostream>

#include "reports/capture/page.hpp"
#include "reports/operations/operations_page.hpp"
#include "reports/report.hpp"
#include "reports/study/study.hpp"
#include "reports/vary/vary_page.hpp"
#include "tests/reports/samples/captures.hpp"
#include "tests/reports/samples/operations.hpp"
#include "tests/reports/samples/samples.hpp"
#include "tests/reports/samples/varied.hpp"

namespace {

/// The passing sample beside a baseline that it drifted from, and after two other runs.
void write_compared(const std::filesystem::path& folder) {
  const tally::Results results = tally::samples::passing();
  tally::ReportContext context;
  context.baseline = tally::baseline_of(results);
  context.baseline->blessings.front().reason = "split the reduction in four";
  for (std::size_t i = 0; i < context.baseline->cases.size(); i += 2) {
    context.baseline->cases[i].worst_ratio /= static_cast<double>(i + 1);
    context.baseline->cases[i].digest = tally::digest_of(context.baseline->cases[i]);
  }
  context.history = {tally::history_entry_of(tally::samples::failing(), "3f2c1d9"),
                     tally::history_entry_of(tally::samples::passing(), "77aa01b"),
                     tally::history_entry_of(tally::samples::partial())};
  tally::Blessing& blessing = context.baseline->blessings.front();
  blessing.commit = "77aa01b", blessing.key = tally::key_of(blessing);
  for (tally::BlessedCase& c : context.baseline->cases) c.blessing = blessing.key;
  for (tally::BlessedFault& f : context.baseline->faults) f.blessing = blessing.key;
  tally::write_report(results, folder, context);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::cerr << "write_samples: expected one folder\n";
    return 2;
  }
  for (const auto& [name, results] : tally::samples::all())
    tally::write_report(results, std::filesystem::path(words[1]) / name);
  for (const auto& [name, capture] : tally::samples::all_captures()) {
    const auto folder = std::filesystem::path(words[1]) / name;
    std::filesystem::create_directories(folder);
    tally::write_atomically((folder / "report.html").string(),
                            tally::capture_html(capture, ""));  // the document is large
  }
  for (const auto& [name, loop] : tally::samples::all_loops()) {
    const auto folder = std::filesystem::path(words[1]) / name;
    std::filesystem::create_directories(folder);
    tally::write_atomically((folder / "report.html").string(), tally::vary_html(loop));
  }
  for (const auto& [name, judged] : tally::samples::all_operations()) {
    const auto folder = std::filesystem::path(words[1]) / name;
    std::filesystem::create_directories(folder);
    tally::write_atomically((folder / "report.html").string(), tally::operations_html(judged, "out/run", "repeat.py"));
  }
  write_compared(std::filesystem::path(words[1]) / "compared");
  for (const tally::Study& study : {tally::samples::study(), tally::samples::hostile_study()})
    tally::write_study(study, std::filesystem::path(words[1]) / "studies");
}
