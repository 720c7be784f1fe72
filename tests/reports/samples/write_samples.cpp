// Writes the report of every sample to FOLDER/<name>/, for the tests that look at pages.
#include <filesystem>
#include <iostream>

#include "reports/report.hpp"
#include "tests/reports/samples/samples.hpp"

int main(int count, char** words) {
  if (count != 2) {
    std::cerr << "write_samples: expected one folder\n";
    return 2;
  }
  for (const auto& [name, results] : tally::samples::all())
    tally::write_report(results, std::filesystem::path(words[1]) / name);
}
