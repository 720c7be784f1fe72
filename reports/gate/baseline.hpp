// What was found and accepted before: a JSON file, one group of cases a line, so that changes merge line by line.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

/// The cases of a law in one precision.
struct BlessedGroup {
  Machine machine;
  Drawn drawn;
  std::string law, precision;
  std::uint64_t cases = 0;
  double worst_ratio = 0;
  std::string digest;  // SHA-256 of every case's id, verdict, ratios and drift
  std::string reason;
  bool same_place(const BlessedGroup& other) const;
  /// Equal but for the reason; ratios by bits.
  bool same_content(const BlessedGroup& other) const;
};

struct BlessedFault {
  Machine machine;
  std::string name, law, reason;
  bool same_place(const BlessedFault& other) const { return machine == other.machine && name == other.name; }
};

struct Baseline {
  int schema = 1;
  std::vector<BlessedGroup> groups;
  std::vector<BlessedFault> faults;
};

/// What these results would put into a baseline: groups that passed and faults that were caught, without reasons.
Baseline baseline_of(const Results& results);

std::string to_json(const Baseline& baseline);
/// Throws std::runtime_error with place, value found and what was expected. `name` starts its messages.
Baseline baseline_of_json(std::string_view json, const std::string& name = "baseline");
/// Throws std::runtime_error if the file is absent or damaged.
Baseline read_baseline(const std::string& file);

}  // namespace tally
