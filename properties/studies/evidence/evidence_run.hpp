// One run of a case, held against both lenses, with every element's r on the way.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "properties/laws/law.hpp"
#include "properties/studies/evidence/ratio_histogram.hpp"

namespace tally {

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
