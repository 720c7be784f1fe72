// A seeded bug: one stage of the training step, or one kernel, replaced, and how much of it is planted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/training_step/run/run.hpp"

namespace tally {

struct Bug;

// A seeded bug: one stage of the training step, or one kernel, replaced. Faults live in a library of their own; the
// shipped kernels never contain one. One file a fault; it registers itself. Its code is independent of its bug's
// formula: the trials, which ask whether the diagnosis names the fault, would otherwise compare a formula with itself.

/// A row of the catalogue, and how to install it.
struct Fault {
  std::string name;               // "mean-of-means"
  std::string bug = {};           // the known bug that it plants, where that bears another name; or "none"
  std::string stage = {};         // where the local lens must find it; empty: the bug's only one (stage_of)
  std::string right;              // formula
  std::string wrong = {};         // formula, where the bug's does not say it (wrong_of)
  std::string condition;          // when it shows
  std::string knob;               // what its magnitude scales (fault.hpp): "value", "rows", ...; or "none"
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
/// The known bug that it plants; nullptr where the diagnosis knows none.
const Bug* bug_of(const Fault& fault);
/// Its own, or its bug's.
const std::string& stage_of(const Fault& fault);
const std::string& wrong_of(const Fault& fault);

// How much of a seeded bug is planted: at 1 it is as it was shipped, at 0 it is not there. A fault's *knob* says what a
// magnitude between them scales:
//
//   value     numbers lie that share of the way from right to wrong: a factor, an argument, what a stage leaves
//   elements  that share of a tensor's elements is wrong, spread evenly
//   rows      that share of the rows is lost, in whole rows
//   steps     that share of the steps is miscounted, in whole steps
//   none      it is there or it is not

/// The magnitude in this process; 1 unless an AtMagnitude lives.
double magnitude();

/// Plants every fault at this magnitude while it lives. Throws std::invalid_argument outside 0 ... 1.
class AtMagnitude {
 public:
  explicit AtMagnitude(double magnitude);
  ~AtMagnitude();
  AtMagnitude(const AtMagnitude&) = delete;
  AtMagnitude& operator=(const AtMagnitude&) = delete;

 private:
  double before_;
};

/// right + magnitude (wrong - right), in binary64; both ends are exact.
double blend(double right, double wrong);
float blend(float right, float wrong);
/// The same in whole steps, none too many: rows that are left, say.
std::int64_t blend_whole(std::int64_t right, std::int64_t wrong);
/// Whether element i is among those that are wrong.
bool hits(std::size_t i);

}  // namespace tally
