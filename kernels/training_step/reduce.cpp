// Of ranks that train together: every buffer becomes the sum of all ranks' buffers, and what one rank found all act on.
#include <cstring>

#include "kernels/ranks/all_reduce.hpp"
#include "kernels/ranks/buckets.hpp"
#include "kernels/training_step/rank_totals.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/rank_keys.hpp"

namespace tally::stage {
namespace {

void copy(Run& run, const void* from, void* to, std::size_t bytes) {
  std::vector<std::byte> staged(bytes);
  run.device.read(from, staged.data(), bytes);
  run.device.write(to, staged.data(), bytes);
}

std::vector<std::int64_t> sizes_of(const Run& run) {
  std::vector<std::int64_t> sizes;
  for (const Parameter& parameter : run.parameters) sizes.push_back(parameter.elements);
  return sizes;
}

}  // namespace

void reduce(Run& run) {
  for (const Parameter& parameter : run.parameters) run.tap("reduce", "in.buffer." + parameter.name, parameter.buffer);
  const auto buckets = buckets_of(run.c, static_cast<std::size_t>(run.options.link->size()), sizes_of(run));
  const Dtype format = run.c.precision.accumulate;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    DeviceTensor flat(run.device, "bucket of ranks", format, {buckets[i].elements});
    flat.zero();
    const auto each = [&](auto use) {
      for (const Bucket::Place& place : buckets[i].places) {
        const Parameter& parameter = run.parameters[place.parameter];
        use(parameter.buffer.data(), flat.row(place.first),
            static_cast<std::size_t>(parameter.elements) * size_of(format));
      }
    };
    each([&](void* buffer, void* place, std::size_t bytes) { copy(run, buffer, place, bytes); });
    const auto add = [&run](const RankSumArguments& arguments) { run.launch("rank_sum", arguments); };
    Addends addends(*run.options.link, run.device, add,
                    "w" + std::to_string(run.window) + "/reduce, bucket " + std::to_string(i), format, flat.data(),
                    buckets[i].elements);
    all_reduce(rank_word(run.c, "reduce.algorithm"))(addends);
    each([&](void* buffer, void* place, std::size_t bytes) { copy(run, place, buffer, bytes); });
  }
  for (const Parameter& parameter : run.parameters) run.tap("reduce", "reduced." + parameter.name, parameter.buffer);
}

void agree(Run& run) {
  run.tap("agree", "in.found", run.found_flag.data(), Dtype::u8, {});
  run.found = sum_over_ranks(run, "agree", std::int64_t{run.found}) > 0;
  run.found_flag.set_scalar<std::uint32_t>(run.found ? 1 : 0);
  run.tap("agree", "found", run.found_flag.data(), Dtype::u8, {});
}

}  // namespace tally::stage
