// Stages that leave no taps between them, judged together (oracle/tolerance.md, Groups).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "properties/compare/ranks_of_trace.hpp"
#include "reports/record/record.hpp"

namespace tally {

enum class Grouping {
  declared,  // taps may miss inside the groups that the trace declares (Trace::groups), and nowhere else
  inferred   // of a capture: taps may miss wherever a later tap shows what came of them
};

struct GroupedChecks {
  std::vector<TensorCheck> checks;  // of both hard lenses, and of lens "group"
  std::vector<std::string> groups;  // formed: "unscale..optimizer", in running order
};

/// Is told of every tap that the local lens went through, with its bytes.
using GoneThrough = std::function<void(const std::string& tap, std::size_t bytes)>;

/// Both hard lenses. Where taps are missing, the outputs behind them are held against the composed functions of every
/// stage since the last taps that are there (lens "group", the check's stage named "unscale..optimizer"), and what a
/// group covers is not_run no more. A stage whose results reach no tap stays not_run. In a declared group the inputs
/// that something outside the group left must be tapped, once.
GroupedChecks hard_lenses(const Case& c, const Trace& trace, Grouping grouping, const GoneThrough& told = {});

/// The same of ranks that train together, generation by generation where their number changes, each rank's checks as one
/// rank alone has them: local and in groups on bits of its own, with what the others handed over; end to end all of them
/// together.
std::vector<std::vector<GroupedChecks>> hard_lenses(const GenerationsOfTrace& generations, Grouping grouping);

}  // namespace tally
