#include "properties/compare/rank_checks.hpp"

#include <iterator>

#include "kernels/trace/stage_place.hpp"
#include "properties/compare/in_order.hpp"
#include "properties/compare/lens.hpp"
#include "properties/compare/promised_bits.hpp"

namespace tally {

std::vector<TensorCheck> disagreements(const RanksOfTrace& ranks) {
  std::vector<TensorCheck> found;
  const PromisedBits promised(ranks.traces.front());
  for (const Tap& tap : ranks.traces.front().taps()) {
    if (!promised.of(tap.name) || !is_shared(ranks.whole, tap.name)) continue;
    for (std::size_t rank = 1; rank < ranks.count(); ++rank) {
      const Tensor* other = ranks.traces[rank].find(tap.name.view());
      if (other == nullptr) continue;  // its own lenses name what is missing
      const std::string name = ranks.name_in_whole(tap.name.text(), rank);
      TensorCheck check = bitwise_check(name, tap.name.stage, tap.value, *other);
      if (check.status != Status::fail) continue;
      check.lens = "local";
      found.push_back(std::move(check));
    }
  }
  return found;
}

std::vector<TensorCheck> checks_of_whole(const RanksOfTrace& ranks, const Trace& trace,
                                         const std::vector<GroupedChecks>& of_each) {
  std::vector<TensorCheck> on_own_bits, end_to_end;
  for (std::size_t rank = 0; rank < ranks.count(); ++rank) {
    for (TensorCheck check : of_each[rank].checks) {
      check.tap = ranks.name_in_whole(check.tap, rank);
      (check.lens == "end_to_end" ? end_to_end : on_own_bits).push_back(std::move(check));
    }
  }
  for (TensorCheck& check : disagreements(ranks)) on_own_bits.push_back(std::move(check));
  std::vector<TensorCheck> all = in_order(trace, std::move(on_own_bits));
  end_to_end = in_order(trace, std::move(end_to_end));
  all.insert(all.end(), std::move_iterator(end_to_end.begin()), std::move_iterator(end_to_end.end()));
  return all;
}

}  // namespace tally
