// A seeded bug: one stage of the training step, or one kernel, replaced. Faults live in a library of their own; the
// shipped kernels never contain one. One file a fault; it registers itself.
#pragma once

#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/training_step/run.hpp"

namespace tally {

/// A row of the catalogue, and how to install it.
struct Fault {
  std::string name;               // "mean-of-means"
  std::string stage;              // where the local lens must find it
  std::string right, wrong;       // formulas
  std::string condition;          // when it shows
  std::string knob;               // what its magnitude scales (magnitude.hpp): "value", "rows", ...; or "none"
  std::string source;             // the public report it is modelled on
  std::vector<std::string> laws;  // laws that it breaks, best first: tried in this order
  /// The shipped stages with this bug in them; lives as long as the program.
  const Stages& (*stages)() = nullptr;
};

struct RegisterFault {
  explicit RegisterFault(Fault fault, std::source_location at = std::source_location::current());
};

/// All faults, sorted by name.
std::vector<const Fault*> faults();
const Fault* find_fault(std::string_view name);

}  // namespace tally
