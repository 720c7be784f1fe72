#include <map>
#include <stdexcept>

#include "oracle/case/optimizer_state.hpp"
#include "oracle/recipe/register_exact_optimizer.hpp"
#include "oracle/registered_files.hpp"

namespace tally::oracle {
namespace {

using Registry = std::map<std::string, OverAllScalars<ExactStep>, std::less<>>;

// Function-local, so that registrations of other files may run before this one's.
Registry& registry() {
  static Registry all;
  return all;
}

const OverAllScalars<ExactStep>& steps_of(const std::string& kind) {
  const auto found = registry().find(kind);
  if (found == registry().end()) throw std::logic_error("no exact mathematics for the optimizer \"" + kind + "\"");
  return found->second;
}

template <class T>
Slot<T> updated_by(ExactStep<T> step_of, const Choice& optimizer, const T& rate, std::int64_t step,
                   const Matrix<T>& gradient, Slot<T> slot) {
  const auto tensors = state_of(optimizer);
  slot.state.resize(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (slot.state[i].size() == 0 && !tensors[i]->begins_with_gradient)
      slot.state[i] = Matrix<T>::Zero(gradient.rows(), gradient.cols());
  return step_of(optimizer, rate, step, gradient, std::move(slot));
}

}  // namespace

void RegisterExactOptimizer::enter(std::string_view kind, OverAllScalars<ExactStep> step, std::source_location at) {
  registry().emplace(kind, step);
  note_registered(at);
}

template <>
Slot<Real> updated(const Choice& optimizer, const Real& rate, std::int64_t step, const Matrix<Real>& gradient,
                   const Slot<Real>& slot) {
  return updated_by(steps_of(optimizer.kind).real, optimizer, rate, step, gradient, slot);
}

template <>
Slot<long double> updated(const Choice& optimizer, const long double& rate, std::int64_t step,
                          const Matrix<long double>& gradient, const Slot<long double>& slot) {
  return updated_by(steps_of(optimizer.kind).wide, optimizer, rate, step, gradient, slot);
}

template <>
Slot<Ball> updated(const Choice& optimizer, const Ball& rate, std::int64_t step, const Matrix<Ball>& gradient,
                   const Slot<Ball>& slot) {
  return updated_by(steps_of(optimizer.kind).ball, optimizer, rate, step, gradient, slot);
}

}  // namespace tally::oracle
