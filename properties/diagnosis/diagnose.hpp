// From a failing check to a ranked list of known bugs.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// What the first failing check looks like, the likeliest first: a few, and every name that is as good as the first. A
/// suspect is listed only if it says what the failing tensor and all others of its kind hold, to within their rounding
/// (explained.hpp), and chance would do as well in less than one of a thousand diagnoses, over all suspects tried. Ranked
/// by what it leaves unexplained, as far as rounding lets it be told; then fewer fitted numbers; then by name. Empty
/// when nothing fails, nothing fits, or the failing check has no tensor in this trace; a stage that left no tensor
/// gives the suspect stage-not-run.
std::vector<Suspicion> diagnose(const Case& c, const Trace& trace, const std::vector<TensorCheck>& checks);

/// While one lives on this thread, diagnose() finds nothing: for runs that only ask whether a case fails.
class NoDiagnosis {
 public:
  NoDiagnosis();
  ~NoDiagnosis();
  NoDiagnosis(const NoDiagnosis&) = delete;
  NoDiagnosis& operator=(const NoDiagnosis&) = delete;

 private:
  bool before_;
};

/// While one lives on this thread, diagnose() tries only these suspects: for runs that ask whether two cases have the
/// same cause.
class OnlySuspects {
 public:
  explicit OnlySuspects(std::set<std::string> names);
  ~OnlySuspects();
  OnlySuspects(const OnlySuspects&) = delete;
  OnlySuspects& operator=(const OnlySuspects&) = delete;

 private:
  std::set<std::string> names_;
  const std::set<std::string>* before_;
};

}  // namespace tally
