#include "reports/gate/reason.hpp"

#include <cctype>
#include <set>
#include <sstream>

namespace tally {

std::string complaint_about(const std::string& reason) {
  static const std::set<std::string> says_nothing = {
      "a",     "accept", "all",     "as",         "again",     "baseline",   "baselines", "bless",   "blessed", "ci",
      "fix",   "fixed",  "green",   "in",         "it",        "make",       "new",       "numbers", "of",      "ok",
      "pass",  "please", "refresh", "rebaseline", "refreshed", "regenerate", "reset",     "results", "tbd",     "test",
      "tests", "the",    "to",      "todo",       "update",    "updated",    "values",    "wip",     "x"};
  std::string words = reason;
  for (char& c : words)
    c = std::isalnum(static_cast<unsigned char>(c)) || (c & 0x80) != 0
            ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
            : ' ';
  std::istringstream stream(words);
  std::string word;
  bool any = false, explains = false;
  while (stream >> word) any = true, explains = explains || !says_nothing.contains(word);
  if (!any) return "found an empty reason, expected why these numbers are right";
  if (!explains)
    return "found the reason \"" + reason + "\", which explains nothing; expected why these numbers are right";
  return "";
}

}  // namespace tally
