// Writes the report of every sample to FOLDER/<name>/ and the sample studies to FOLDER/studies/, for the tests that
// look at pages.
#include <filesystem>
#include <iostream>

#include "reports/report.hpp"
#include "reports/study/study.hpp"
#include "tests/reports/samples/samples.hpp"

int main(int count, char** words) {
  if (count != 2) {
    std::cerr << "write_samples: expected one folder\n";
    return 2;
  }
  for (const auto& [name, results] : tally::samples::all())
    tally::write_report(results, std::filesystem::path(words[1]) / name);
  for (const tally::Study& study : {tally::samples::study(), tally::samples::hostile_study()})
    tally::write_study(study, std::filesystem::path(words[1]) / "studies");
}
