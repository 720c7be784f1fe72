// What every kernel operation read and wrote in the runs that a law judged.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "properties/laws/run_and_check.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// The operations of the runs that a law checks while it lives.
class OperationScope : public RunObserver {
 public:
  void see_run(const Case& c, const CheckedRun& run) override;
  void see(const Case& c, const Trace& trace);

  /// The records of the runs seen so far, sorted by operation and variant; drift and standing, from the checks of the
  /// local lens, of all variants of an operation together.
  std::vector<OperationRecord> records(const Case& c, const std::vector<TensorCheck>& checks) const;

  /// How long each operation took in all of them.
  const std::map<std::string, double>& seconds() const { return seconds_; }

  /// The kernel that wrote the first tensor that fails (failing_kernel.hpp), in the run in which it did: a law may run
  /// other variants than the case's own. Empty where no run seen so far failed there.
  std::string failing_kernel(const std::vector<TensorCheck>& checks) const;

 private:
  struct Seen {
    std::string inputs, outputs;  // bytes so far, of every run that this kernel took part in
    bool repeats = true;
    std::set<std::string> formats, shapes;  // of what it wrote
  };
  std::map<std::string, double> seconds_;
  std::map<std::string, std::string> failing_;  // by the first tap that failed in a run, the first such run
  std::map<std::pair<std::string, std::string>, Seen> seen_;  // by operation and variant: runs may differ in it
};

}  // namespace tally
