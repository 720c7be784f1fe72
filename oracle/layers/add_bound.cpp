// add: (add.1) as a sum in the order of the list, stored after every addition; (add.2) is the gradient itself.
#include "oracle/tolerance/added_in_turn.hpp"
#include "oracle/tolerance/certifying.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle::add_bound {
namespace {

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  std::vector<const Expected*> addends{&x};
  addends.insert(addends.end(), pass.others.begin(), pass.others.end());
  Expected y = added_in_turn(pass.declared, "add.forward", addends);
  if (certifying() != nullptr && !bounds_only()) y.v = exact_forward(pass, x).y;
  return {std::move(y), {}, {}, {}};
}

ExpectedBackward backward(const BoundPass&, const Expected&, const Expected& dy) { return {dy, {}}; }

const RegisterBoundRule registered("add", {forward, backward});

}  // namespace
}  // namespace tally::oracle::add_bound
