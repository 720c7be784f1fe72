// What was found and accepted before, as a file.
#include "reports/gate/baseline.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include "reports/gate/baseline_fields.hpp"
#include "reports/record/json.hpp"
#include "reports/text/stored_text.hpp"
#include "reports/text/text.hpp"

namespace tally {
namespace {

constexpr std::size_t key_digits = 8;

bool can_be_blessed(Status status) { return status == Status::pass || status == Status::vacuous; }

}  // namespace

Machine machine_of(const Results& results) {
  const Environment& e = results.environment;
  std::string toolchain;
  for (const std::string& part : {e.compiler, e.flags, e.cuda, e.blas})
    if (!part.empty()) toolchain += (toolchain.empty() ? "" : "; ") + part;
  return {e.executor, e.device, toolchain};
}

Drawn drawn_of(const Results& results) { return {results.campaign, results.seed, results.effort}; }

std::string key_of(const Blessing& b) {
  std::string text;
  for (const std::string& part : {b.commit, b.reason, b.machine.executor, b.machine.device, b.machine.toolchain,
                                  b.drawn.campaign, std::to_string(b.drawn.seed), hexadecimal_text(b.drawn.effort)})
    text += std::to_string(part.size()) + ":" + part;
  return hex(sha256_digest(text)).substr(0, key_digits);
}

const Blessing& Baseline::blessing(const std::string& key) const {
  for (const Blessing& b : blessings)
    if (b.key == key) return b;
  throw std::logic_error("no blessing has the key " + key);
}

std::vector<CaseEntry> Baseline::entries_of(const Machine& machine) const {
  std::set<std::string> keys;
  for (const Blessing& b : blessings)
    if (b.machine == machine) keys.insert(b.key);
  std::vector<CaseEntry> entries;
  for (const BlessedCase& c : cases)
    if (keys.contains(c.blessing)) entries.push_back(c);
  std::sort(entries.begin(), entries.end(), stands_before);
  return entries;
}

Baseline baseline_of(const Results& results) {
  Baseline baseline;
  Blessing blessing{"", "", "", machine_of(results), drawn_of(results)};
  blessing.key = key_of(blessing);
  for (CaseEntry& entry : tally::entries_of(results))
    if (can_be_blessed(entry.status)) baseline.cases.push_back({std::move(entry), blessing.key});
  for (const FaultRecord& fault : results.faults)
    if (fault.caught) baseline.faults.push_back({fault.name, fault.law, blessing.key});
  baseline.blessings = {blessing};
  put_in_order(baseline);
  return baseline;
}

void put_in_order(Baseline& baseline) {
  std::map<std::string, Machine> machines;
  for (const Blessing& b : baseline.blessings) machines[b.key] = b.machine;
  std::sort(baseline.cases.begin(), baseline.cases.end(), [&](const BlessedCase& a, const BlessedCase& b) {
    const Machine &of_a = machines.at(a.blessing), &of_b = machines.at(b.blessing);
    return of_a != of_b ? of_a < of_b : stands_before(a, b);
  });
  std::sort(baseline.faults.begin(), baseline.faults.end(), [&](const BlessedFault& a, const BlessedFault& b) {
    return std::tie(machines.at(a.blessing), a.name) < std::tie(machines.at(b.blessing), b.name);
  });
  std::set<std::string> used;
  for (const BlessedCase& c : baseline.cases) used.insert(c.blessing);
  for (const BlessedFault& f : baseline.faults) used.insert(f.blessing);
  std::erase_if(baseline.blessings, [&used](const Blessing& b) { return !used.contains(b.key); });
  std::sort(baseline.blessings.begin(), baseline.blessings.end(),
            [](const Blessing& a, const Blessing& b) { return a.key < b.key; });
}

namespace {

[[noreturn]] void complain(const std::string& place, const std::string& found, const std::string& expected) {
  throw std::runtime_error(place + ": found " + found + ", expected " + expected);
}

void check_blessings(const Baseline& baseline, std::set<std::string>& keys) {
  for (std::size_t i = 0; i < baseline.blessings.size(); ++i) {
    const Blessing& b = baseline.blessings[i];
    const std::string place = "$.blessings[" + std::to_string(i) + "].key";
    if (b.key != key_of(b)) complain(place, b.key, key_of(b) + ", which its commit, reason, machine and draw give");
    if (!keys.insert(b.key).second) complain(place, b.key, "every key once");
  }
}

/// Each line fits itself and the blessings; no case stands twice under one machine.
void check(const Baseline& baseline) {
  std::set<std::string> keys;
  check_blessings(baseline, keys);
  std::set<std::tuple<Machine, std::string, std::string, std::string>> cases;
  for (std::size_t i = 0; i < baseline.cases.size(); ++i) {
    const BlessedCase& c = baseline.cases[i];
    const std::string place = "$.cases[" + std::to_string(i) + "]";
    if (!keys.contains(c.blessing)) complain(place + ".blessing", c.blessing, "the key of a blessing");
    if (c.digest != digest_of(c)) complain(place + ".digest", c.digest, digest_of(c) + ", which the line gives");
    if (c.status != Status::pass && c.status != Status::vacuous)
      complain(place + ".status", std::string(word_of(c.status)), "pass or vacuous");
    if (!cases.emplace(baseline.blessing(c.blessing).machine, c.law, c.precision, c.id).second)
      complain(place + ".id", c.id, "every case of a law and precision once");
  }
  const bool pending = baseline.blessings.size() == 1 && baseline.blessings.front().reason.empty();
  if (!baseline.replaced.empty() && !pending)
    complain("$.replaced", baseline.replaced.front().id, "none in a baseline: only what a gate left has some");
  for (std::size_t i = 0; i < baseline.faults.size(); ++i)
    if (!keys.contains(baseline.faults[i].blessing))
      complain("$.faults[" + std::to_string(i) + "].blessing", baseline.faults[i].blessing, "the key of a blessing");
}

}  // namespace

std::string to_json(const Baseline& baseline) { return canonical_text(JsonWriter::json_of(baseline)); }

Baseline baseline_of_json(std::string_view json, const std::string& name) {
  try {
    auto baseline = record_of_json<Baseline>(json, "", 2);
    check(baseline);
    return baseline;
  } catch (const std::runtime_error& problem) {
    std::string_view text = problem.what();
    if (text.starts_with(": ")) text.remove_prefix(2);
    throw std::runtime_error(name + ": " + std::string(text));
  }
}

Baseline read_baseline(const std::string& file) { return baseline_of_json(stored_text(file), file); }

}  // namespace tally
