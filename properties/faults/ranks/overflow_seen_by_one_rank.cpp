// A rank looks for an overflow in what it hands over, and tells no one.
#include <cmath>

#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::overflow_seen_by_one_rank_fault {
namespace {

bool own_overflow(const Run& run) {
  for (const Parameter& parameter : run.parameters) {
    const std::string tensor = "in.buffer." + parameter.name;
    const Tensor* handed = run.trace.find(TapView{run.window, -1, "reduce", tensor, run.rank_tag});
    for (std::size_t i = 0; handed != nullptr && i < handed->elements(); ++i)
      if (!std::isfinite(handed->value(i))) return true;
  }
  return false;
}

void overflow_check(Run& run) {
  stage::overflow_check(run);
  if (ranks(run) == 1 || magnitude() == 0) return;
  run.found = own_overflow(run);
  run.found_flag.set_scalar<std::uint32_t>(run.found ? 1 : 0);
  run.tap("overflow_check", "found", run.found_flag.data(), Dtype::u8, {});
}

void agree(Run& run) {
  if (magnitude() == 0) return stage::agree(run);
  run.tap("agree", "in.found", run.found_flag.data(), Dtype::u8, {});
  run.tap("agree", "found", run.found_flag.data(), Dtype::u8, {});
}

const Stages& stages() {
  static const Stages all = [] {
    Stages copy = shipped_stages();
    copy.overflow_check = overflow_check;
    copy.agree = agree;
    return copy;
  }();
  return all;
}

const RegisterFault registered{{
    .name = "overflow-seen-by-one-rank",
    .stage = "overflow_check",
    .right = "found = an element of the sum over ranks is not finite",
    .wrong = "found = one of the rank's own buffers is not",
    .condition = "an overflow on some ranks alone",
    .knob = "none",
    .source = "fairscale PR 179, 181",
    .laws = {"overflow_on_one_rank_skips_all"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::overflow_seen_by_one_rank_fault
