// The items that a window counts, exactly. A subject need not say how it counts: what is not tapped is not asked for.
#include "properties/compare/local_count.hpp"

#include "oracle/case/counted.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sequences.hpp"

namespace tally {
namespace {

void check_input(LocalWalk& walk, const std::string& tensor, const Tensor& of_the_case) {
  if (walk.tap("count", tensor) != nullptr) walk.handed("count", tensor, &of_the_case);
}

/// The count of a micro-batch, or of the window; as tapped, else as it should be.
std::int64_t check_items(LocalWalk& walk, std::int64_t items) {
  const Tensor* tapped = walk.tap("count", "items");
  if (tapped == nullptr) return items;
  walk.check_output("count", "items", oracle::scalar(static_cast<long double>(items)));
  return tapped->integer(0);
}

/// The window's count: the sum of its micro-batches', and of all ranks' where there are several.
void check_whole(LocalWalk& walk, std::int64_t own) {
  if (!in_ranks(walk.c)) {
    check_items(walk, own);
    return;
  }
  if (walk.tap("count", "in.items") != nullptr)
    walk.check_output("count", "in.items", oracle::scalar(static_cast<long double>(own)));
  if (const auto all = counted_items(whole_of(walk.c), static_cast<std::size_t>(walk.window)))
    check_items(walk, all->of_window);
}

}  // namespace

void check_count(LocalWalk& walk) {
  const auto window = static_cast<std::size_t>(walk.window);
  const auto counted = counted_items(walk.c, window);
  if (!counted) return;
  std::uint64_t sum = 0;  // modulo 2^64, as a subject adds what a trace may hold
  for (walk.micro_batch = 0; walk.micro_batch < walk.micro_batches(); ++walk.micro_batch) {
    const auto k = static_cast<std::size_t>(walk.micro_batch);
    check_input(walk, std::string("in.") + counted_tensor(walk.c.model.loss), counted_rows(walk.c, window, k));
    if (shifts_labels(walk.c.model.loss)) check_input(walk, "in.sequences", sequence_lengths(walk.c, window, k));
    sum += static_cast<std::uint64_t>(check_items(walk, counted->of_micro_batch[k]));
  }
  walk.micro_batch = -1;
  check_whole(walk, static_cast<std::int64_t>(sum));
}

}  // namespace tally
