// One run of a case, held against both lenses, with every element's r on the way; and the parts of training that it is
// counted by.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "properties/lab/evidence/strata.hpp"
#include "properties/laws/law.hpp"

namespace tally {

// The parts of training that evidence is counted by: a stage, and the kind of layer, loss or recipe section it serves.

/// "forward linear", "backward gelu_tanh", "loss mse", "optimizer adam", "norm".
std::string part_of(const Case& c, const TapName& tap);

/// The part whose tensors a kernel of this operation makes: "backward linear" for "linear.bias_gradient".
std::string part_of_operation(std::string_view operation);

/// How a case is run: the subject with its orders, and kernels to use instead of the shipped ones.
struct DrawnRun {
  RunOptions subject;
  std::map<std::string, std::string> variants;  // operation -> variant; a fault's own replacements stay
};

/// Every variant of each operation of the training step on this executor that ships, seeded faults left out.
const std::map<std::string, std::vector<std::string>>& shipped_variants(ExecutorKind executor);

/// Runs it. Throws what run() throws.
Trace trace_of(const Case& c, const DrawnRun& run);

struct EvidenceRun {
  Trace trace;
  std::vector<TensorCheck> checks;  // local, then end to end, then one of lens "machine" for each violation
  std::string refusal;  // why the verdict is vacuous though a gradient of the trace is not zero; empty where it is not
  /// r of every element whose bound and error are not zero, by lens and part.
  std::map<std::pair<std::string, std::string>, RatioHistogram> ratios;
};
EvidenceRun evidence_run(const Case& c, const DrawnRun& run);

}  // namespace tally
