#include "properties/studies/clopper_pearson.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <stdexcept>

namespace tally {
namespace {

using Binomial = boost::math::binomial_distribution<double>;

void require_possible(std::uint64_t events, std::uint64_t trials) {
  if (!(events <= trials)) throw std::invalid_argument("more events than trials");
}

}  // namespace

double clopper_pearson_upper(std::uint64_t events, std::uint64_t trials, double confidence) {
  require_possible(events, trials);
  if (events == trials) return 1;
  return Binomial::find_upper_bound_on_p(static_cast<double>(trials), static_cast<double>(events), 1 - confidence);
}

double clopper_pearson_lower(std::uint64_t events, std::uint64_t trials, double confidence) {
  require_possible(events, trials);
  if (events == 0) return 0;
  return Binomial::find_lower_bound_on_p(static_cast<double>(trials), static_cast<double>(events), 1 - confidence);
}

}  // namespace tally
