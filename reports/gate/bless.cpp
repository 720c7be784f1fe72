#include "reports/gate/bless.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <tuple>

namespace tally {
namespace {

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool selects(const BlessOptions& options, const std::string& law, const std::string& precision) {
  return matches(options.law, law) && matches(options.precision, precision);
}

bool selects_all(const BlessOptions& options) { return options.law == "*" && options.precision == "*"; }

void refuse_without_cause(const Results& results, const BlessOptions& options) {
  if (options.reason.find_first_not_of(" \t\r\n") == std::string::npos)
    throw std::runtime_error("bless: found an empty reason, expected why these numbers are right");
  const char* ci = std::getenv("CI");
  if (ci && *ci && !options.allow_ci)
    throw std::runtime_error("bless: refused because CI is set; a person blesses, or --allow-ci says so");
  if (results.partial) throw std::runtime_error("bless: the run is incomplete, expected a whole one");
}

void refuse_failures(const Results& results, const BlessOptions& options) {
  for (const CaseRecord& c : results.cases) {
    const bool broken = c.status == Status::fail || c.status == Status::error;
    const bool over = c.status == Status::pass && !(c.worst_local_ratio <= 1);
    if (selects(options, c.law, c.precision) && (broken || over))
      throw std::runtime_error("bless: " + c.law + ", " + c.precision + ", case " + c.id +
                               " breaks its law; a failure cannot be blessed");
  }
  for (const LawRecord& law : results.laws)
    if (matches(options.law, law.name) && control_is_missing(law))
      throw std::runtime_error("bless: law " + law.name + " cannot fail, its control does not differ");
  if (!selects_all(options)) return;
  for (const FaultRecord& fault : results.faults)
    if (!fault.caught)
      throw std::runtime_error("bless: seeded fault " + fault.name + " got away; that cannot be blessed");
  if (verdict_of(results) != Status::pass) throw std::runtime_error("bless: the run did not pass");
}

/// Moves the matching entries of `current` over those of `kept`; `chosen` says which of the kept may be replaced.
template <class Entry, class Same, class Chosen>
void replace(std::vector<Entry>& kept, std::vector<Entry> current, const std::string& reason, Same same, Chosen chosen,
             BlessReport& report) {
  std::vector<Entry> out;
  std::size_t found = 0;
  for (Entry& before : kept)
    if (!chosen(before)) out.push_back(before);
  for (Entry& now : current) {
    if (!chosen(now)) continue;
    const auto before =
        std::find_if(kept.begin(), kept.end(), [&now](const Entry& entry) { return entry.same_place(now); });
    const bool known = before != kept.end(), equal = known && same(*before, now);
    now.reason = equal ? before->reason : reason;
    found += known;
    ++(equal ? report.unchanged : known ? report.changed : report.added);
    out.push_back(now);
  }
  report.removed += static_cast<std::uint64_t>(std::count_if(kept.begin(), kept.end(), chosen)) - found;
  kept = std::move(out);
}

void sort(Baseline& baseline) {
  std::sort(baseline.groups.begin(), baseline.groups.end(), [](const BlessedGroup& a, const BlessedGroup& b) {
    return std::tie(a.machine, a.law, a.precision) < std::tie(b.machine, b.law, b.precision);
  });
  std::sort(baseline.faults.begin(), baseline.faults.end(), [](const BlessedFault& a, const BlessedFault& b) {
    return std::tie(a.machine, a.name) < std::tie(b.machine, b.name);
  });
}

}  // namespace

BlessReport bless(const Results& results, const std::string& file, const BlessOptions& options) {
  refuse_without_cause(results, options);
  refuse_failures(results, options);
  Baseline baseline = std::filesystem::exists(file) ? read_baseline(file) : Baseline{};
  const Baseline current = baseline_of(results);
  const Machine machine = machine_of(results);
  BlessReport report;
  replace(
      baseline.groups, current.groups, options.reason,
      [](const BlessedGroup& a, const BlessedGroup& b) { return a.same_content(b); },
      [&](const BlessedGroup& g) { return g.machine == machine && selects(options, g.law, g.precision); }, report);
  if (selects_all(options) && !results.faults.empty())
    replace(
        baseline.faults, current.faults, options.reason,
        [](const BlessedFault& a, const BlessedFault& b) { return a.law == b.law; },
        [&](const BlessedFault& f) { return f.machine == machine; }, report);
  if (report.added + report.changed + report.unchanged + report.removed == 0)
    throw std::runtime_error("bless: nothing matches law '" + options.law + "' and precision '" + options.precision +
                             "'");
  sort(baseline);
  write_atomically(file, to_json(baseline));
  return report;
}

}  // namespace tally
