// What has been run, and what has to be before there is a verdict.
#pragma once

#include "reports/record/vary_report.hpp"

namespace tally {

class RunBook {
 public:
  explicit RunBook(const VaryRuns& runs) : runs_(runs) {}

  /// Null where it is not there: it is asked for then.
  const VaryRun* run(const HowRun& how);
  const VaryWeights* weights(const HowWeights& how);
  /// Null where it is not there, and nothing is asked.
  const VaryRun* found(const HowRun& how) const;

  const VaryRuns& runs() const { return runs_; }
  const VaryAsks& asks() const { return asks_; }

 private:
  const VaryRuns& runs_;
  VaryAsks asks_;
};

}  // namespace tally
