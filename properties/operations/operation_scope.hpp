// What every kernel operation read and wrote in the runs that a law judged.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// While it lives, note_operations() in this thread collects here. Scopes do not nest.
class OperationScope {
 public:
  OperationScope();
  ~OperationScope();
  OperationScope(const OperationScope&) = delete;
  OperationScope& operator=(const OperationScope&) = delete;

  /// Of the runs seen so far, sorted by operation and variant; drift and standing, from the checks of the local lens,
  /// of all variants of an operation together.
  std::vector<OperationRecord> records(const Case& c, const std::vector<TensorCheck>& checks) const;

 private:
  friend void note_operations(const Case& c, const Trace& trace);
  struct Seen {
    std::string inputs, outputs;  // bytes so far, of every run that this kernel took part in
    bool repeats = true;
    std::set<std::string> formats, shapes;  // of what it wrote
  };
  std::map<std::pair<std::string, std::string>, Seen> seen_;  // by operation and variant: runs may differ in it
};

/// Called for every run that is judged; does nothing outside a scope.
void note_operations(const Case& c, const Trace& trace);

}  // namespace tally
