// What the gate would let be blessed, and the reasons that are taken.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "reports/gate/bless.hpp"

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

namespace {

using Place = std::tuple<std::string, std::string, std::string>;

Place place_of(const CaseEntry& entry) { return {entry.law, entry.precision, entry.id}; }

/// Digests of the same machine and draw.
std::map<Place, std::string> digests_of(const Baseline& kept, const Blessing& now) {
  std::map<Place, std::string> digests;
  for (const BlessedCase& c : kept.cases) {
    const Blessing& blessing = kept.blessing(c.blessing);
    if (blessing.machine == now.machine && blessing.drawn == now.drawn) digests[place_of(c)] = c.digest;
  }
  return digests;
}

bool knows(const Baseline& kept, const BlessedFault& fault, const Machine& machine) {
  return std::any_of(kept.faults.begin(), kept.faults.end(), [&](const BlessedFault& known) {
    return known.name == fault.name && known.law == fault.law && kept.blessing(known.blessing).machine == machine;
  });
}

/// Cases of the same machine and draw that other ones stand for now: in their law and precision there are as many more.
std::vector<CasePlace> replaced_by(const Baseline& pending, const Results& results, const Baseline& kept) {
  std::set<Place> now, known;
  for (const CaseRecord& c : results.cases) now.insert({c.law, c.precision, c.id});
  std::map<std::pair<std::string, std::string>, std::vector<CasePlace>> gone;
  std::map<std::pair<std::string, std::string>, std::size_t> fresh;
  const Blessing& blessing = pending.blessings.front();
  for (const BlessedCase& c : kept.cases) {
    const Blessing& of = kept.blessing(c.blessing);
    if (of.machine != blessing.machine || !(of.drawn == blessing.drawn)) continue;
    known.insert(place_of(c));
    if (!now.contains(place_of(c))) gone[{c.law, c.precision}].push_back({c.law, c.precision, c.id});
  }
  for (const BlessedCase& c : pending.cases) fresh[{c.law, c.precision}] += !known.contains(place_of(c));
  std::vector<CasePlace> replaced;
  for (const auto& [place, cases] : gone)
    if (cases.size() <= fresh[place]) replaced.insert(replaced.end(), cases.begin(), cases.end());
  std::sort(replaced.begin(), replaced.end());
  return replaced;
}

}  // namespace

Baseline pending_of(const Results& results, const Baseline& kept, const std::string& commit) {
  if (results.partial || verdict_of(results) != Status::pass) return {};
  Baseline pending = baseline_of(results);
  Blessing blessing{"", commit, "", machine_of(results), drawn_of(results)};
  blessing.key = key_of(blessing);
  const auto digests = digests_of(kept, blessing);
  std::erase_if(pending.cases, [&digests](const BlessedCase& c) {
    const auto known = digests.find(place_of(c));
    return known != digests.end() && known->second == c.digest;
  });
  std::erase_if(pending.faults, [&](const BlessedFault& f) { return knows(kept, f, blessing.machine); });
  for (BlessedCase& c : pending.cases) c.blessing = blessing.key;
  for (BlessedFault& f : pending.faults) f.blessing = blessing.key;
  pending.blessings = {blessing};
  pending.replaced = replaced_by(pending, results, kept);
  put_in_order(pending);
  return pending;
}

std::vector<CaseEntry> before_pending(const Baseline& pending, const Baseline& kept) {
  std::vector<CaseEntry> before;
  if (pending.blessings.empty()) return before;
  const Blessing& now = pending.blessings.front();
  const auto proposed = pending.entries_of(now.machine);
  for (const BlessedCase& c : kept.cases) {
    const Blessing& blessing = kept.blessing(c.blessing);
    const bool comparable = blessing.machine == now.machine && blessing.drawn == now.drawn;
    if (comparable && std::binary_search(proposed.begin(), proposed.end(), c, stands_before)) before.push_back(c);
  }
  std::sort(before.begin(), before.end(), stands_before);
  return before;
}

bool is_left_by_gate(const Baseline& document) {
  return document.blessings.size() == 1 && document.blessings.front().reason.empty();
}

bool is_pending(const std::string& file) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return false;
  std::ifstream in(file, std::ios::binary);
  std::string start(64, '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  return start.find("\"blessings\"") != std::string::npos;
}

}  // namespace tally
