// The gates one by one; each adds what it finds.
// Defined in gate.cpp, waivers.cpp.
#pragma once

#include "reports/gate/gate.hpp"

namespace tally {

using Findings = std::vector<GateFinding>;

/// "partition, bf16".
std::string place_of(const std::string& law, const std::string& precision);

void bound_gate(const Results& results, Findings& out);
void teeth_gate(const Results& results, const Baseline& blessed, Findings& out);
/// Findings about the waivers; returns the results without the failing cases that one covers.
Results waivers_gate(const Results& results, const GateContext& context, Findings& out);

/// Entries of the same machine and draw.
struct Sides {
  std::vector<CaseEntry> before, now;
};
Sides sides_of(const Results& results, const Baseline& blessed);

void coverage_gate(const Sides& sides, const Results& results, const Baseline& blessed, Findings& out);
void drift_gate(const Sides& sides, const Comparison& comparison, const Results& results, Findings& out);

/// Whether it was judged, and found wrong.
inline bool is_broken(Status status) { return status == Status::fail || status == Status::error; }

}  // namespace tally
