// What was put together of the parameters is read as if every piece took its padded size: behind the first piece each
// element comes from further on, by the padding in front of it.
#include <algorithm>

#include "kernels/ranks/buckets.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::padding_strides_the_gather_fault {
namespace {

/// Elements that no parameter has, in all buckets together.
std::int64_t padding(const Run& run) {
  std::vector<std::int64_t> sizes;
  std::int64_t held = 0, padded = 0;
  for (const Parameter& parameter : run.parameters) sizes.push_back(parameter.elements), held += parameter.elements;
  for (const Bucket& bucket : buckets_of(run.c, static_cast<std::size_t>(ranks(run)), sizes)) padded += bucket.elements;
  return padded - held;
}

void all_gather(Run& run) {
  stage::all_gather(run);
  const std::int64_t shift = padding(run);
  for (std::size_t p = 0; p < run.parameters.size(); ++p) {
    const Parameter& parameter = run.parameters[p];
    std::int64_t first = parameter.elements;  // of the parameter's second piece
    for (std::size_t rank = 1; rank < run.pieces.size(); ++rank)
      for (const RankPiece& piece : run.pieces[rank])
        if (piece.parameter == p && piece.first > 0) first = std::min(first, piece.first);
    const Tensor whole = parameter.copy.read();
    change(run, parameter.copy, [&](std::size_t i, double value) {
      if (static_cast<std::int64_t>(i) < first) return value;
      const std::int64_t from = std::min(static_cast<std::int64_t>(i) + shift, parameter.elements - 1);
      return blend(value, whole.value(static_cast<std::size_t>(from)));
    });
    run.tap("all_gather", (run.behind_forward ? "again." : "") + parameter.name, parameter.copy);
  }
}

const RegisterFault registered{{
    .name = "padding-strides-the-gather",
    .stage = "all_gather",
    .right = "pieces are put together at their real offsets",
    .wrong = "at those of their padded size",
    .condition = "sharded parameters, a bucket with padding",
    .knob = "value",
    .source = "DeepSpeed 8158",
    .laws = {"sharding_changes_nothing"},
    .stages = replaced<&Stages::all_gather, all_gather>,
}};

}  // namespace
}  // namespace tally::padding_strides_the_gather_fault
