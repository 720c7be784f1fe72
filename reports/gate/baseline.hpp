// What was found and accepted before: a JSON file, one case a line, so that changes merge line by line.
// Defined in baseline.cpp.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/compare/entry.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// Where numbers are comparable: another executor, device or toolchain may round differently and be right.
struct Machine {
  std::string executor, device, toolchain;
  auto operator<=>(const Machine&) const = default;
};
Machine machine_of(const Results& results);

/// Which cases were drawn.
struct Drawn {
  std::string campaign;
  std::uint64_t seed = 0;
  double effort = 1;
  bool operator==(const Drawn&) const = default;
};
Drawn drawn_of(const Results& results);

/// Who accepted entries, and why. `key` is made from the rest, so that no two people give the same one.
struct Blessing {
  std::string key, commit, reason;
  Machine machine;
  Drawn drawn;
};
std::string key_of(const Blessing& blessing);

struct BlessedCase : CaseEntry {
  std::string blessing;  // its key
};

/// A case by its place alone.
struct CasePlace {
  std::string law, precision, id;
  auto operator<=>(const CasePlace&) const = default;
};

struct BlessedFault {
  std::string name, law, blessing;
};

struct Baseline {
  int schema = 2;
  std::vector<Blessing> blessings;
  std::vector<BlessedCase> cases;
  std::vector<BlessedFault> faults;
  std::vector<CasePlace> replaced;  // of what the gate leaves to be blessed alone: go when it is blessed, sorted

  /// Throws std::logic_error for a key that is none: readers refuse those.
  const Blessing& blessing(const std::string& key) const;
  std::vector<CaseEntry> entries_of(const Machine& machine) const;  // sorted
};

/// What these results would put into a baseline, under one blessing without a reason: cases that passed or were
/// vacuous, and faults that were caught.
Baseline baseline_of(const Results& results);

/// Sorted by machine, law, precision and id; blessings that nothing uses are left out.
void put_in_order(Baseline& baseline);

std::string to_json(const Baseline& baseline);
/// Throws std::runtime_error with place, value found and what was expected: also for a line whose digest, ratio or
/// blessing does not fit the rest, which somebody edited. `name` starts its messages.
Baseline baseline_of_json(std::string_view json, const std::string& name = "baseline");
/// Throws std::runtime_error if the file is absent or damaged.
Baseline read_baseline(const std::string& file);

}  // namespace tally
