// A change to the training step that changes nothing it promises: another legal way to compute the same. The laws must
// let it pass, or they would be too strict. One file each; it registers itself.
#pragma once

#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/training_step/run/run.hpp"

namespace tally {

struct EquivalentMutant {
  std::string name;               // "divides-at-the-end"
  std::string change;             // what is done otherwise
  std::string why;                // and why it is the same
  std::string source;             // where the like was seen, or taken for a bug
  std::vector<std::string> laws;  // that must hold with it
  const Stages& (*stages)() = nullptr;
};

struct RegisterEquivalent {
  explicit RegisterEquivalent(EquivalentMutant mutant, std::source_location at = std::source_location::current());
};

/// All of them, sorted by name.
std::vector<const EquivalentMutant*> equivalent_mutants();

}  // namespace tally
