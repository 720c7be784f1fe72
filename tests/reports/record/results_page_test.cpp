// The reference pages and the files that they describe name the same keys.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/reports/samples/captures.hpp"
#include "tests/reports/samples/samples.hpp"
#include "tests/reports/samples/varied.hpp"

namespace tally::results_page_test {
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

/// The keys of the format that a page of this name in reports/ documents under `# <format>`.
Keys documented(const std::string& page_name, const std::string& format) {
  std::ifstream page(TALLY_SOURCE_DIR "/reports/" + page_name);
  Keys keys;
  std::string section;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("# ")) inside = line.starts_with("# " + format);
    if (!inside) continue;
    if (line.starts_with("## `")) section = line.substr(4, line.size() - 5);
    if (line.starts_with("| `")) keys[section].insert(line.substr(3, line.find('`', 3) - 3));
  }
  return keys;
}

TEST(ResultsPage, DocumentsEveryKeyThatIsWrittenAndNoOther) {
  Keys written;
  collect(nlohmann::json::parse(to_json(samples::failing())), "", written);
  std::erase_if(written, [](const auto& entry) { return entry.first.starts_with("studies[]"); });  // as on its own
  Keys all = documented("results.md", "results.json");
  all.merge(documented("operations.md", "results.json"));
  all.merge(documented("ranks.md", "results.json"));
  EXPECT_EQ(all, written);
}

TEST(ResultsPage, DocumentsEveryKeyOfAJudgedCaptureAndNoOther) {
  Keys written;
  CaptureRecord wrong = samples::wrong_capture();
  wrong.ranks = {{0, 1, {{"forward", Status::pass}}}};
  collect(nlohmann::json::parse(to_json(wrong)), "", written);
  std::erase_if(written, [](const auto& entry) { return entry.first.find("[]") != std::string::npos; });
  EXPECT_EQ(documented("capture.md", "One judged capture"), written);
}

TEST(ResultsPage, DocumentsEveryKeyOfAVariedLoopAndNoOther) {
  Keys written;
  collect(nlohmann::json::parse(to_json(samples::wrong_loop())), "", written);
  EXPECT_EQ(documented("vary.md", "A varied loop")["$"], written["$"]);
}

TEST(ResultsPage, DocumentsEveryKeyOfAStudyAndNoOther) {
  Keys written;
  collect(nlohmann::json::parse(to_json(samples::study())), "", written);
  written.erase("environment"), written.erase("environment.ledger[]");  // as in results.json
  EXPECT_EQ(documented("studies.md", "Studies"), written);
}

}  // namespace
}  // namespace tally::results_page_test
