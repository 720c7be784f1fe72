#include "properties/laws/promised_bits.hpp"

#include "properties/laws/outcome.hpp"

namespace tally {

void no_promise(Outcome& outcome, const PromisedBits& promised, const std::string& stage) {
  TensorCheck check;
  check.lens = "bitwise";
  check.tap = stage;
  check.message = promised.without() + " repeats within its claim only: no bits of this run are promised here";
  check.stage = stage;
  check.status = Status::vacuous;
  add(outcome, std::move(check));
}

}  // namespace tally
