// The pages of known faults and the registries name the same faults.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "properties/faults/equivalent/equivalent.hpp"
#include "properties/faults/fault.hpp"

namespace tally::catalogue_page_test {
namespace {

/// All pages of the catalogue, one behind another.
std::string pages() {
  std::ostringstream text;
  for (const auto& file : std::filesystem::directory_iterator(std::string(TALLY_SOURCE_DIR) + "/properties/faults"))
    if (file.path().extension() == ".md") text << std::ifstream(file.path()).rdbuf();
  return text.str();
}

/// Words in backquotes.
std::set<std::string> named_on_the_page() {
  const std::string page = pages();
  static const std::regex quoted("`([^`]+)`");
  std::set<std::string> names;
  for (std::sregex_iterator at(page.begin(), page.end(), quoted), end; at != end; ++at) names.insert((*at)[1]);
  return names;
}

TEST(CataloguePage, NamesEverySeededFaultAndEveryEquivalentMutant) {
  const auto names = named_on_the_page();
  ASSERT_FALSE(faults().empty());
  for (const Fault* fault : faults()) EXPECT_TRUE(names.contains(fault->name)) << fault->name;
  for (const EquivalentMutant* mutant : equivalent_mutants()) EXPECT_TRUE(names.contains(mutant->name)) << mutant->name;
}

TEST(CataloguePage, NamesNoFaultThatIsNotSeeded) {
  std::set<std::string> seeded;
  for (const Fault* fault : faults()) seeded.insert(fault->name);
  for (const EquivalentMutant* mutant : equivalent_mutants()) seeded.insert(mutant->name);
  const auto names = named_on_the_page();
  ASSERT_FALSE(names.empty());
  for (const std::string& name : names) {
    const bool other = name.find(' ') != std::string::npos || name.find('_') != std::string::npos;  // commands, laws
    EXPECT_TRUE(other || seeded.contains(name)) << name;
  }
}

/// Every fault's knob as the page has it: the last cell of its row, one word for all faults of the row or one each.
std::map<std::string, std::string> knobs_on_the_page() {
  std::istringstream text(pages());
  static const std::regex row("\\|(.*)\\|(.*)\\|(.*)\\|(.*)\\|"), quoted("`([^`]+)`"), words("[a-z]+");
  std::map<std::string, std::string> knobs;
  for (std::string line; std::getline(text, line);) {
    std::smatch cells;
    if (!std::regex_match(line, cells, row)) continue;
    const std::string seeded = cells[3], last = cells[4];
    std::vector<std::string> knob;
    for (std::sregex_iterator at(last.begin(), last.end(), words), end; at != end; ++at) knob.push_back(at->str());
    std::size_t next = 0;
    for (std::sregex_iterator at(seeded.begin(), seeded.end(), quoted), end; at != end; ++at) {
      const std::string name = (*at)[1];
      if (find_fault(name) && !knob.empty()) knobs[name] = knob.at(knob.size() == 1 ? 0 : next++);
    }
  }
  return knobs;
}

TEST(CataloguePage, SaysWhatTheKnobOfEveryFaultScales) {
  const auto knobs = knobs_on_the_page();
  ASSERT_FALSE(faults().empty());
  for (const Fault* fault : faults()) {
    const auto found = knobs.find(fault->name);
    ASSERT_NE(found, knobs.end()) << fault->name;
    EXPECT_EQ(found->second, fault->knob) << fault->name;
  }
}

}  // namespace
}  // namespace tally::catalogue_page_test
