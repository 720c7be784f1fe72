#include "reports/gate/bless.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>

#include "reports/compare/entry.hpp"

namespace tally {
namespace {

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool selects(const BlessOptions& options, const std::string& law, const std::string& precision, const std::string& id) {
  const bool named = options.cases.empty() || std::count(options.cases.begin(), options.cases.end(), id) > 0;
  return named && matches(options.law, law) && matches(options.precision, precision);
}

bool selects(const BlessOptions& options, const CaseEntry& entry) {
  return selects(options, entry.law, entry.precision, entry.id);
}

bool selects_all(const BlessOptions& options) {
  return options.law == "*" && options.precision == "*" && options.cases.empty();
}

void refuse_in_ci(const BlessOptions& options) {
  const char* ci = std::getenv("CI");
  if (ci && *ci && !options.allow_ci)
    throw std::runtime_error("bless: refused, as CI is set; let a person bless, or pass --allow-ci");
}

void refuse_to_write(const Results& results, const BlessOptions& options) {
  refuse_in_ci(options);
  if (results.partial) throw std::runtime_error("bless: the run is incomplete, expected a whole one");
}

void refuse_without_reason(const BlessOptions& options) {
  if (const std::string complaint = complaint_about(options.reason); !complaint.empty())
    throw std::runtime_error("bless: " + complaint);
}

void refuse_cases(const Results& results, const BlessOptions& options) {
  for (const CaseRecord& c : results.cases) {
    const bool broken = c.status == Status::fail || c.status == Status::error;
    const bool over = c.status == Status::pass && !(c.worst_local_ratio <= 1);
    if ((broken || over) && selects(options, c.law, c.precision, c.id))
      throw std::runtime_error("bless: " + c.law + ", " + c.precision + ", case " + c.id +
                               " breaks its law; a failure cannot be blessed");
  }
}

void refuse_failures(const Results& results, const BlessOptions& options) {
  refuse_cases(results, options);
  if (!options.cases.empty()) return;
  for (const LawRecord& law : results.laws)
    if (matches(options.law, law.name) && control_is_missing(law))
      throw std::runtime_error("bless: law " + law.name + " cannot fail, its control does not differ");
  if (!selects_all(options)) return;
  for (const FaultRecord& fault : results.faults)
    if (!fault.caught)
      throw std::runtime_error("bless: seeded fault " + fault.name + " was not caught; that cannot be blessed");
  if (verdict_of(results) != Status::pass) throw std::runtime_error("bless: the run did not pass");
}

/// A case in the results, or in the baseline and gone from them, that nobody knows is misspelt.
void refuse_unknown(const Baseline& kept, const Baseline& current, const BlessOptions& options) {
  const auto has = [](const Baseline& baseline, const std::string& id) {
    return std::any_of(baseline.cases.begin(), baseline.cases.end(), [&id](const auto& c) { return c.id == id; });
  };
  for (const std::string& id : options.cases)
    if (!has(kept, id) && !has(current, id)) throw std::runtime_error("bless: nothing matches case '" + id + "'");
}

/// Moves chosen entries of `current` over those of `kept`; what is equal keeps its blessing.
template <class Entry>
struct Replacement {
  std::function<bool(const Entry&)> chosen, replaceable;  // of the current ones; of the kept ones
  std::function<bool(const Entry&, const Entry&)> same_place, same;

  void apply(std::vector<Entry>& kept, const std::vector<Entry>& current, BlessReport& report) const {
    std::vector<Entry> out, before;
    for (Entry& entry : kept) (replaceable(entry) ? before : out).push_back(std::move(entry));
    std::size_t found = 0;
    for (const Entry& now : current) {
      if (!chosen(now)) continue;
      const auto place = std::find_if(before.begin(), before.end(), [&](const Entry& b) { return same_place(b, now); });
      const bool known = place != before.end(), equal = known && same(*place, now);
      out.push_back(equal ? *place : now);
      found += known;
      ++(equal ? report.unchanged : known ? report.changed : report.added);
    }
    report.removed += before.size() - found;
    kept = std::move(out);
  }
};

Baseline kept_in(const std::string& file) { return std::filesystem::exists(file) ? read_baseline(file) : Baseline{}; }

/// What would be blessed, under one blessing that says why.
Baseline reasoned(Baseline current, const BlessOptions& options) {
  Blessing& blessing = current.blessings.front();
  blessing.commit = options.commit, blessing.reason = options.reason;
  blessing.key = key_of(blessing);
  for (BlessedCase& c : current.cases) c.blessing = blessing.key;
  for (BlessedFault& f : current.faults) f.blessing = blessing.key;
  return current;
}

void add_blessing(Baseline& baseline, const Blessing& blessing) {
  const bool known = std::any_of(baseline.blessings.begin(), baseline.blessings.end(),
                                 [&blessing](const Blessing& b) { return b.key == blessing.key; });
  if (!known) baseline.blessings.push_back(blessing);
}

void write(Baseline& baseline, const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder))
    throw std::runtime_error("bless: " + file + ": there is no folder " + folder.string() +
                             "; expected one that is there");
  put_in_order(baseline);
  try {
    write_atomically(file, to_json(baseline));
  } catch (const std::runtime_error& problem) {
    throw NotWritten(problem.what());
  }
}

std::uint64_t total_of(const BlessReport& report) {
  return report.added + report.changed + report.unchanged + report.removed;
}

/// What `chosen`, in order, holds takes the place of the same entries of its machine; nothing is removed.
BlessReport replaced(Baseline& baseline, const Baseline& kept, const Baseline& chosen) {
  const auto here = [&](const std::string& key) {
    return kept.blessing(key).machine == chosen.blessings.front().machine;
  };
  BlessReport report;
  Replacement<BlessedCase>{[](const auto&) { return true; },
                           [&](const auto& c) {
                             return here(c.blessing) &&
                                    std::binary_search(chosen.cases.begin(), chosen.cases.end(), c, stands_before);
                           },
                           [](const auto& a, const auto& b) { return a.same_place(b); },
                           [](const auto& a, const auto& b) { return a.digest == b.digest; }}
      .apply(baseline.cases, chosen.cases, report);
  Replacement<BlessedFault>{[](const auto&) { return true; },
                            [&](const auto& f) {
                              return here(f.blessing) &&
                                     std::any_of(chosen.faults.begin(), chosen.faults.end(),
                                                 [&f](const auto& now) { return now.name == f.name; });
                            },
                            [](const auto& a, const auto& b) { return a.name == b.name; },
                            [](const auto& a, const auto& b) { return a.law == b.law; }}
      .apply(baseline.faults, chosen.faults, report);
  return report;
}

/// Removes the cases of this machine and draw that others now stand for; returns how many there were.
std::uint64_t take_out(Baseline& baseline, const Baseline& kept, const Baseline& chosen) {
  const Blessing& now = chosen.blessings.front();
  const auto blessing_of = [&](const std::string& key) -> const Blessing& {
    return key == now.key ? now : kept.blessing(key);
  };
  return std::erase_if(baseline.cases, [&](const BlessedCase& c) {
    const Blessing& blessing = blessing_of(c.blessing);
    return blessing.machine == now.machine && blessing.drawn == now.drawn &&
           std::binary_search(chosen.replaced.begin(), chosen.replaced.end(), CasePlace{c.law, c.precision, c.id});
  });
}

}  // namespace

std::string text_of(const BlessReport& report) {
  return std::to_string(report.added) + " added, " + std::to_string(report.changed) + " changed, " +
         std::to_string(report.removed) + " removed, " + std::to_string(report.unchanged) + " unchanged";
}

BlessReport bless(const Results& results, const std::string& file, const BlessOptions& options) {
  refuse_without_reason(options);
  refuse_to_write(results, options);
  refuse_failures(results, options);
  Baseline baseline = kept_in(file);
  const Baseline kept = baseline, current = reasoned(baseline_of(results), options);
  refuse_unknown(kept, current, options);
  const Machine machine = machine_of(results);
  const Drawn drawn = drawn_of(results);
  const auto here = [&](const std::string& key) { return kept.blessing(key).machine == machine; };
  const auto as_drawn = [&](const std::string& key) { return kept.blessing(key).drawn == drawn; };
  BlessReport report;
  Replacement<BlessedCase>{[&](const auto& c) { return selects(options, c); },
                           [&](const auto& c) { return here(c.blessing) && selects(options, c); },
                           [](const auto& a, const auto& b) { return a.same_place(b); },
                           [&](const auto& a, const auto& b) { return as_drawn(a.blessing) && a.digest == b.digest; }}
      .apply(baseline.cases, current.cases, report);
  if (selects_all(options) && !results.faults.empty())
    Replacement<BlessedFault>{[](const auto&) { return true; }, [&](const auto& f) { return here(f.blessing); },
                              [](const auto& a, const auto& b) { return a.name == b.name; },
                              [](const auto& a, const auto& b) { return a.law == b.law; }}
        .apply(baseline.faults, current.faults, report);
  if (total_of(report) == 0)
    throw std::runtime_error("bless: nothing matches law '" + options.law + "' and precision '" + options.precision +
                             "'");
  add_blessing(baseline, current.blessings.front());
  write(baseline, file);
  return report;
}

BlessReport bless_pending(const Baseline& pending, const std::string& file, const BlessOptions& options) {
  refuse_without_reason(options);
  refuse_in_ci(options);
  if (!is_left_by_gate(pending))
    throw std::runtime_error("bless: found a baseline, expected what the gate left to be blessed");
  for (const BlessedCase& c : pending.cases)
    if (c.status == Status::pass && !(c.worst_ratio <= 1))
      throw std::runtime_error("bless: case " + c.id + " has a ratio above 1; a failure cannot be blessed");
  Baseline baseline = kept_in(file), chosen = pending;
  const Baseline kept = baseline;
  std::erase_if(chosen.cases, [&](const BlessedCase& c) { return !selects(options, c); });
  std::erase_if(chosen.replaced, [&](const CasePlace& c) { return !selects(options, c.law, c.precision, c.id); });
  if (!selects_all(options)) chosen.faults.clear();
  if (chosen.cases.empty() && chosen.faults.empty() && chosen.replaced.empty())
    throw std::runtime_error("bless: nothing that is pending matches");
  const Blessing& proposed = pending.blessings.front();
  BlessOptions how = options;
  if (how.commit.empty()) how.commit = proposed.commit;
  chosen = reasoned(std::move(chosen), how);
  put_in_order(chosen);
  BlessReport report = replaced(baseline, kept, chosen);
  report.removed += take_out(baseline, kept, chosen);
  add_blessing(baseline, chosen.blessings.front());
  write(baseline, file);
  return report;
}

BlessReport prune(const Results& results, const std::string& file, const BlessOptions& options) {
  refuse_to_write(results, options);
  Baseline baseline = read_baseline(file);
  const Baseline kept = baseline;
  const auto now = entries_of(results);
  BlessReport report;
  std::erase_if(baseline.cases, [&](const BlessedCase& c) {
    const Blessing& blessing = kept.blessing(c.blessing);
    const bool ours = blessing.machine == machine_of(results) && blessing.drawn == drawn_of(results);
    const bool gone = !std::binary_search(now.begin(), now.end(), c, stands_before);
    const bool remove = ours && gone && selects(options, c);
    ++(remove ? report.removed : report.unchanged);
    return remove;
  });
  write(baseline, file);
  return report;
}

namespace {

bool became_better(const CaseEntry& before, const CaseEntry& now) {
  if (!(now.worst_ratio < before.worst_ratio) || now.operations.size() != before.operations.size()) return false;
  for (std::size_t i = 0; i < now.operations.size(); ++i) {
    const OperationRecord &a = before.operations[i], &b = now.operations[i];
    if (a.operation != b.operation || !(b.drift <= a.drift)) return false;
  }
  return true;
}

}  // namespace

BlessReport tighten(const Results& results, const std::string& file, const BlessOptions& options) {
  const Baseline kept = read_baseline(file);
  Baseline same_draw = kept;
  std::erase_if(same_draw.cases,
                [&](const BlessedCase& c) { return !(kept.blessing(c.blessing).drawn == drawn_of(results)); });
  BlessOptions better = options;
  better.cases.clear();
  const auto nothing = [](const CaseEntry&) {};
  for_each_pair(
      same_draw.entries_of(machine_of(results)), entries_of(results),
      [&](const CaseEntry& before, const CaseEntry& now) {
        const bool good = now.status == before.status && became_better(before, now);
        if (good && selects(options, now)) better.cases.push_back(now.id);
      },
      nothing, nothing);
  if (better.cases.empty()) {
    refuse_without_reason(options);
    refuse_to_write(results, options);
    return {};
  }
  return bless(results, file, better);
}

}  // namespace tally
