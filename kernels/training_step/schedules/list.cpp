// (list.1), in binary64.
#include <algorithm>

#include "kernels/training_step/kind_steps.hpp"

namespace tally::list_steps {
namespace {

double rate(const Choice& schedule, std::int64_t t) {
  const std::vector<Decimal>& rates = schedule.numbers("rates");
  const std::int64_t past = std::max<std::int64_t>(t - schedule.integer("first"), 0);
  return rates.at(std::min(static_cast<std::size_t>(past), rates.size() - 1)).to_double();
}

const RegisterScheduleSteps registered("list", {rate});

}  // namespace
}  // namespace tally::list_steps
