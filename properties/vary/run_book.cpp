#include "properties/vary/run_book.hpp"

#include <algorithm>

namespace tally {
namespace {

template <class Kept, class How>
const Kept* kept_or_null(const std::vector<Kept>& all, const How& how) {
  const auto found = std::ranges::find(all, how, &Kept::how);
  return found == all.end() ? nullptr : &*found;
}

template <class Kept, class How>
const Kept* kept_or_asked(const std::vector<Kept>& all, const How& how, std::vector<How>& asked) {
  const Kept* kept = kept_or_null(all, how);
  if (kept == nullptr && std::ranges::find(asked, how) == asked.end()) asked.push_back(how);
  return kept;
}

}  // namespace

const VaryRun* RunBook::run(const HowRun& how) { return kept_or_asked(runs_.runs, how, asks_.runs); }

const VaryWeights* RunBook::weights(const HowWeights& how) { return kept_or_asked(runs_.weights, how, asks_.weights); }

const VaryRun* RunBook::found(const HowRun& how) const { return kept_or_null(runs_.runs, how); }

}  // namespace tally
