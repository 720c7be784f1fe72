// results.md and results.json name the same keys.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/reports/samples/samples.hpp"

namespace tally {
namespace {

using Keys = std::map<std::string, std::set<std::string>>;  // by the object's path

void collect(const nlohmann::json& value, const std::string& path, Keys& keys) {
  if (value.is_array())
    for (const auto& element : value) collect(element, path + "[]", keys);
  if (!value.is_object()) return;
  for (const auto& [key, member] : value.items()) {
    keys[path.empty() ? "$" : path].insert(key);
    collect(member, path.empty() ? key : path + "." + key, keys);
  }
}

Keys documented() {
  std::ifstream page(TALLY_SOURCE_DIR "/reports/results.md");
  Keys keys;
  std::string section;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("# ") && !section.empty()) break;  // the next format
    if (line.starts_with("## `")) section = line.substr(4, line.size() - 5);
    if (line.starts_with("| `")) keys[section].insert(line.substr(3, line.find('`', 3) - 3));
  }
  return keys;
}

TEST(ResultsPage, DocumentsEveryKeyThatIsWrittenAndNoOther) {
  Keys written;
  collect(nlohmann::json::parse(to_json(samples::failing())), "", written);
  EXPECT_EQ(documented(), written);
}

}  // namespace
}  // namespace tally
