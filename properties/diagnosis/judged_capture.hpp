// A recorded trace of a case, judged: what `tally check` says of it.
#pragma once

#include <string>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "reports/record/record.hpp"

namespace tally {

struct JudgedCapture {
  std::vector<TensorCheck> checks;
  std::vector<std::string> groups;  // stages that were judged as one
  std::vector<Suspicion> suspects;
};

/// By both hard lenses; what failed is split into its terms and diagnosed. A capture that declares no groups has them
/// formed where its taps leave a gap.
JudgedCapture judged_capture(const Case& c, const Trace& trace);

}  // namespace tally
