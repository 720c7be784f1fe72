// Gathers the evidence for the tolerances: clean cases, ordinary networks, cases of the laws, hard cases and the hill
// climb, in forked jobs.
#pragma once

#include <string>
#include <vector>

#include "properties/lab/evidence/hill_climb.hpp"
#include "properties/lab/evidence/strata.hpp"
#include "properties/lab/study.hpp"

namespace tally {

struct EvidencePlan {
  std::uint64_t clean_cases = 3000;
  std::uint64_t ordinary_networks = 200;
  double law_effort = 0;  // of each law and precision: as many cases as verify draws at this effort
  int hard_cases = 8;     // a family and precision
  int climbs = 10;        // a precision
  int steps = 300;        // a climb

  /// What a study of this effort does: 3,000 clean cases and 200 ordinary networks at 1, ten times as many at 10;
  /// climbs grow with its root.
  static EvidencePlan of(double effort);
};

struct GatheredEvidence {
  Strata strata;  // labels as in case_strata.hpp and cases.hpp
  Climbs climbs;
  std::vector<std::string> problems;  // a case that ended in an exception, a job that died: one sentence each
  void merge(const GatheredEvidence& other);
};

/// The same evidence for the same plan, seed and subject, whatever options.processes is.
GatheredEvidence gather_evidence(const EvidencePlan& plan, const StudyOptions& options);

}  // namespace tally
