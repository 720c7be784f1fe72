// Sums whose kernel claims one order of additions: their bits.
#include <algorithm>

#include "properties/compare/lens.hpp"
#include "properties/compare/local_walk.hpp"

namespace tally {

void hold_order(LocalWalk& walk, const std::string& stage, const std::string& tensor, const OrderedBits& ordered) {
  const Tensor* got = walk.tap(stage, tensor);
  const std::string tap = TapName{walk.window, walk.micro_batch, stage, tensor}.text();
  const auto check =
      std::find_if(walk.checks.rbegin(), walk.checks.rend(), [&](const TensorCheck& each) { return each.tap == tap; });
  if (got == nullptr || check == walk.checks.rend() || check->status == Status::fail) return;
  const auto expected = ordered();
  if (!expected) return;
  Tensor bits(got->dtype, got->shape);
  for (std::size_t i = 0; i < bits.elements(); ++i) bits.set(i, expected->data()[i]);
  const TensorCheck compared = bitwise_check(tap, stage, bits, *got);
  if (compared.status != Status::fail) return;
  check->status = Status::fail;
  check->failure = FailureClass::order;
  check->differing = compared.over_bound;
}

}  // namespace tally
