#include "properties/compare/whole_model.hpp"

#include <cmath>

namespace tally {
namespace {

thread_local const WholeModel* in_force = nullptr;

}  // namespace

WholeModel whole_model_of(const std::vector<SquaresOfWindow>& sums) {
  WholeModel whole;
  for (const SquaresOfWindow& each : sums) {
    const bool finite = std::isfinite(each.sum);
    const BuffersOfAll all{finite ? OverflowFound::none : OverflowFound::certain,
                           oracle::terms_of_squares(each.elements, each.sum)};
    whole[each.window] = {all, all, std::nullopt, std::nullopt, !finite};
  }
  return whole;
}

WholeModelScope::WholeModelScope(const WholeModel& whole) : before_(in_force) { in_force = &whole; }
WholeModelScope::~WholeModelScope() { in_force = before_; }

const WholeWindow* whole_window(int window) {
  if (in_force == nullptr) return nullptr;
  const auto found = in_force->find(window);
  return found == in_force->end() ? nullptr : &found->second;
}

}  // namespace tally
