// A drawn sample of a run's expectations, evaluated again in ball arithmetic. The lenses judge by long double values
// and set a part of each bound apart for their rounding; this checks that part.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "oracle/tolerance/expected.hpp"
#include "reports/record/triggers.hpp"

namespace tally {

using Expectations = std::map<std::string, oracle::Expected>;  // by tap name

/// What the end-to-end lens expected of one rank's part, over every generation of it.
struct ExpectedTraining {
  Expectations expected;
  std::vector<const Trace*> traces;  // of one generation each
  bool decided = true;               // no branch was taken over from a trace
};

/// While it lives, the first run that the local lens judges in this thread, alone or beside the others, gives the
/// sample: a few stages of layers and losses, on the same input bits, and where the case is small the whole of it,
/// composed anew (oracle/exact/trajectory.hpp). `draw` decides which stages, and whether any: one case in `one_in` is
/// taken.
class CertifiedSample {
 public:
  static constexpr std::uint64_t one_in = 16;

  explicit CertifiedSample(std::uint64_t draw);
  ~CertifiedSample();
  CertifiedSample(const CertifiedSample&) = delete;
  CertifiedSample& operator=(const CertifiedSample&) = delete;

  const CertifiedRecord& record() const { return record_; }

 private:
  friend bool wants_expectations();
  friend void certify(const Case& c, const Trace& trace, const Expectations& judged);
  friend void certify_ranks(const Case& whole, const ExpectedTraining& first);

  std::uint64_t draw_;
  bool taken_;
  CertifiedRecord record_;
  CertifiedSample* before_;
};

/// Whether a sample waits for the expectations of a run.
bool wants_expectations();

/// What the local lens expected of each tap, to be held against enclosures; of one rank's part its stages alone.
void certify(const Case& c, const Trace& trace, const Expectations& judged);
/// What the first rank's walk expected end to end, where the sample that its stages gave was asked for.
void certify_ranks(const Case& whole, const ExpectedTraining& first);

/// |v - exact| <= what the bound sets apart for long double: (1 - 1/pays) e, for every element that is finite and
/// decided, with 2^-63 of the value for what the certified one may be off. The first disagreement of a tensor is noted.
void compare_certified(const std::string& tap, const oracle::Expected& judged,
                       const oracle::Matrix<long double>& certified, CertifiedRecord& record);

}  // namespace tally
