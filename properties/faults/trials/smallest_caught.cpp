#include "properties/faults/trials/smallest_caught.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "properties/campaign/law_task.hpp"
#include "properties/faults/magnitude.hpp"

namespace tally {
namespace {

constexpr int greatest_exponent = 64, stride = 4;

class Search {
 public:
  Search(const Law& law, const std::vector<Case>& failing, const RunOptions& faulty) : law_(law), faulty_(faulty) {
    for (const Case& c : failing) cases_.push_back(&c);
  }

  double smallest() {
    int found = 0, missed = stride;
    while (missed <= greatest_exponent && caught_at(missed)) {
      found = missed;
      missed += stride;
    }
    while (missed - found > 1 && missed <= greatest_exponent) {
      const int middle = (found + missed) / 2;
      (caught_at(middle) ? found : missed) = middle;
    }
    return std::exp2(-found);
  }

 private:
  /// The case that found it is the first to be tried next.
  bool caught_at(int exponent) {
    const AtMagnitude planted(std::exp2(-exponent));
    const auto finder = std::find_if(cases_.begin(), cases_.end(), [&](const Case* c) {
      const Status status = outcome_of(law_, *c, faulty_).status;
      return status == Status::fail || status == Status::error;
    });
    if (finder == cases_.end()) return false;
    std::swap(*finder, cases_.front());
    return true;
  }

  const Law& law_;
  const RunOptions& faulty_;
  std::vector<const Case*> cases_;
};

}  // namespace

std::vector<Case> failing_cases(const Law& law, Dtype storage, const CampaignOptions& options, int draws) {
  std::vector<Case> failing;
  CampaignOptions one = options;
  for (int i = 0; i < draws; ++i, ++one.seed) {
    std::optional<Case> found = run_law_task(law, storage, one).failing;
    if (found) failing.push_back(std::move(*found));
  }
  return failing;
}

double smallest_caught(const Law& law, const std::vector<Case>& failing, const RunOptions& faulty) {
  return Search(law, failing, faulty).smallest();
}

}  // namespace tally
