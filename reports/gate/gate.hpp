// The regression gate: a run against what was blessed before, on the same kind of machine.
//   bound     nothing breaks a law but what a waiver names; never blessable
//   drift     same draw, same machine: where kernels repeat every bit is the same; where they do not, no kernel's
//   errors
//             have grown (a paired test that can be undecided); else a bless with a reason
//   coverage  nothing that was blessed is gone; what is new wants a bless
//   teeth     a seeded fault that was caught stays caught; never blessable
//   waivers   a waiver has not expired, and what it names still fails
// Defined in gate.cpp, gate_text.cpp.
#pragma once

#include <string>
#include <vector>

#include "reports/compare/comparison.hpp"
#include "reports/gate/baseline.hpp"
#include "reports/gate/waivers.hpp"

namespace tally {

struct GateFinding {
  enum class Kind { failed, fresh, undecided, told };  // the last two change nothing
  Kind kind = Kind::told;
  std::string gate, place, message;
  std::string what = {};    // what it is of, for counting: "case", "control", "gone", "new" …
  std::uint64_t count = 1;  // of so many
};

struct GateReport {
  int exit_code = 0;                  // 0 pass, 1 failed, 4 nothing ran or all of it vacuous, 5 nothing but new cases
  std::vector<GateFinding> findings;  // failed first
  Comparison comparison;              // with the entries of this machine and draw
};

struct GateContext {
  std::vector<Waiver> waivers;
  std::string today;  // day that waivers are held against; empty: today
};

/// A damaged baseline or results file is the caller's exit code 2: reading it throws.
GateReport gate(const Results& results, const Baseline& baseline, const GateContext& context = {});

/// How a report is written.
struct GateText {
  ChangesText changes = {};  // `all`: every finding too, a line each
  std::string accept = {};   // the line that says how to accept it; empty: none
};

/// What a screen holds: the kernels that changed first, what breaks, what followed, what is only coverage, and as its
/// last line what there is to decide.
std::string gate_text(const GateReport& report, const GateText& how = {});

/// One finding a line.
std::string findings_text(const GateReport& report);

}  // namespace tally
