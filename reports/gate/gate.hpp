// The regression gate: a run against what was blessed before, on the same machine kind.
//   bound     nothing breaks a law; never blessable
//   drift     same draw, same machine, repeatable run: every ratio the same to the bit, else a bless with a reason
//   coverage  nothing that was blessed is gone; what is new wants a bless
//   teeth     a seeded fault that was caught stays caught
#pragma once

#include <string>
#include <vector>

#include "reports/gate/baseline.hpp"

namespace tally {

struct GateFinding {
  enum class Kind { failed, fresh, told };  // told: for information, changes nothing
  Kind kind = Kind::told;
  std::string gate, place, message;
};

struct GateReport {
  int exit_code = 0;                  // 0 pass, 1 failed, 4 nothing ran or all of it vacuous, 5 nothing but new cases
  std::vector<GateFinding> findings;  // failed first
};

/// A damaged baseline or results file is the caller's exit code 2: reading it throws.
GateReport gate(const Results& results, const Baseline& baseline);

/// One finding a line and a closing sentence.
std::string gate_text(const GateReport& report);

}  // namespace tally
