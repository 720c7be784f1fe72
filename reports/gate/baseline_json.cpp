#include <set>
#include <stdexcept>

#include "reports/gate/baseline_fields.hpp"
#include "reports/record/json_reader.hpp"
#include "reports/record/json_writer.hpp"
#include "reports/text/stored_text.hpp"

namespace tally {
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
