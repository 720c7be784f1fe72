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

/// Of the runs that a law checks while it lives.
class OperationScope : public RunObserver {
 public:
  void see_run(const Case& c, const CheckedRun& run) override { see(c, run.trace); }
  void see(const Case& c, const Trace& trace);

  /// Of the runs seen so far, sorted by operation and variant; drift and standing, from the checks of the local lens,
  /// of all variants of an operation together.
  std::vector<OperationRecord> records(const Case& c, const std::vector<TensorCheck>& checks) const;

 private:
  struct Seen {
    std::string inputs, outputs;  // bytes so far, of every run that this kernel took part in
    bool repeats = true;
    std::set<std::string> formats, shapes;  // of what it wrote
  };
  std::map<std::pair<std::string, std::string>, Seen> seen_;  // by operation and variant: runs may differ in it
};

}  // namespace tally
