// Every law can fail, and a fault shows it; faults name laws that exist; the ctest rows name both by their records.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "properties/faults/fault.hpp"
#include "properties/faults/fault_names.hpp"
#include "properties/laws/law.hpp"

namespace tally::catalogue_test {
namespace {

namespace fs = std::filesystem;

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The names that records below a folder begin with, as tests/properties/tests.cmake reads them.
std::set<std::string> names_below(const char* folder) {
  static const std::regex record(R"re(const Register(?:Law|Fault) registered\{\{\s*\.name = "([^"]+)")re");
  std::set<std::string> names;
  for (const auto& file : fs::recursive_directory_iterator(fs::path(TALLY_SOURCE_DIR) / "properties" / folder)) {
    if (const auto kind = file.path().extension(); kind != ".cpp" && kind != ".cu") continue;
    std::ifstream stream(file.path());
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    for (std::sregex_iterator found(text.begin(), text.end(), record), end; found != end; ++found)
      names.insert((*found)[1]);
  }
  return names;
}

TEST(Catalogue, EveryLawCanFailAndHasItsRow) {
  const std::set<std::string> rows = names_below("laws");
  ASSERT_FALSE(laws().empty());
  for (const Law* law : laws()) {
    EXPECT_TRUE(law->holds) << law->name;
    EXPECT_TRUE(law->differs) << law->name << " has no control";
    EXPECT_FALSE(law->control.empty()) << law->name;
    EXPECT_FALSE(faults_of(law->name).empty()) << law->name << " is broken by no fault";
    EXPECT_TRUE(rows.contains(law->name)) << law->name;
  }
}

TEST(Catalogue, ALawsFaultsAreThoseThatNameItTheOnesWithItAsTheirBestFirst) {
  EXPECT_TRUE(faults_of("no_such_law").empty());
  ASSERT_FALSE(laws().empty());
  for (const Law* law : laws()) {
    bool best = true;
    std::size_t naming = 0;
    for (const Fault* fault : faults()) naming += has(fault->laws, law->name);
    EXPECT_EQ(faults_of(law->name).size(), naming) << law->name;
    for (const std::string& name : faults_of(law->name)) {
      const std::vector<std::string>& named = find_fault(name)->laws;
      EXPECT_TRUE(has(named, law->name)) << law->name << " and " << name;
      EXPECT_TRUE(best || named.front() != law->name) << name << " comes too late among those of " << law->name;
      best = named.front() == law->name;
    }
  }
}

TEST(Catalogue, EveryFaultNamesLawsThatExistAndHasItsRow) {
  const std::set<std::string> rows = names_below("faults");
  ASSERT_GE(faults().size(), 20u);
  for (const Fault* fault : faults()) {
    ASSERT_FALSE(fault->laws.empty()) << fault->name;
    for (const std::string& law : fault->laws) EXPECT_TRUE(find_law(law)) << fault->name << " names " << law;
    const std::set<std::string> once(fault->laws.begin(), fault->laws.end());
    EXPECT_EQ(once.size(), fault->laws.size()) << fault->name << " names a law twice";
    EXPECT_TRUE(rows.contains(fault->name)) << fault->name;
  }
}

TEST(Catalogue, FaultsCoverEveryStageButAllReduce) {
  std::vector<std::string> stages;
  for (const Fault* fault : faults()) stages.push_back(stage_of(*fault));
  for (const char* stage : {"count", "cast", "forward", "running_stats", "loss", "backward", "fork", "accumulate",
                            "overflow_check", "unscale", "norm", "clip", "decay", "optimizer", "scaler", "schedule"}) {
    EXPECT_TRUE(has(stages, stage)) << "no fault is seeded in " << stage;
  }
}

}  // namespace
}  // namespace tally::catalogue_test
