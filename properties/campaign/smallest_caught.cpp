#include "properties/campaign/smallest_caught.hpp"

#include <cmath>

#include "properties/campaign/law_task.hpp"
#include "properties/faults/magnitude.hpp"

namespace tally {
namespace {

constexpr int least_exponent = 64, stride = 4;

bool caught_at(int exponent, const Law& law, const Case& failing, const Subject& faulty) {
  const AtMagnitude planted(std::exp2(-exponent));
  const Status status = outcome_of(law, failing, faulty).status;
  return status == Status::fail || status == Status::error;
}

}  // namespace

double smallest_caught(const Law& law, const Case& failing, const Subject& faulty) {
  int found = 0, missed = stride;
  while (missed <= least_exponent && caught_at(missed, law, failing, faulty)) {
    found = missed;
    missed += stride;
  }
  while (missed - found > 1 && missed <= least_exponent) {
    const int middle = (found + missed) / 2;
    (caught_at(middle, law, failing, faulty) ? found : missed) = middle;
  }
  return std::exp2(-found);
}

}  // namespace tally
