#include "properties/vary/partitions.hpp"

#include <algorithm>
#include <functional>
#include <random>

namespace tally {
namespace {

Partition equal_ones(std::int64_t rows, std::int64_t count) {
  return Partition(static_cast<std::size_t>(count), rows / count);
}

/// Micro-batches of one size, and what is left in a last one.
Partition short_last(std::int64_t rows, std::int64_t count) {
  const std::int64_t size = (rows + count - 1) / count;
  Partition sizes = Partition(static_cast<std::size_t>(rows / size), size);
  if (rows % size != 0) sizes.push_back(rows % size);
  return sizes;
}

/// Three micro-batches, or two of two rows: cut behind rows that are drawn.
Partition uneven(std::int64_t rows, std::mt19937_64& drawn) {
  const auto behind = [&] { return 1 + static_cast<std::int64_t>(drawn() % static_cast<std::uint64_t>(rows - 1)); };
  std::vector<std::int64_t> cuts{0, behind(), rows};
  if (rows > 2) {
    std::int64_t second = behind();
    while (second == cuts[1]) second = behind();
    cuts.push_back(second);
  }
  std::ranges::sort(cuts);
  Partition sizes;
  for (std::size_t i = 1; i < cuts.size(); ++i) sizes.push_back(cuts[i] - cuts[i - 1]);
  return sizes;
}

std::vector<Partition> all_equal_ones(std::int64_t rows) {
  std::vector<Partition> found;
  for (std::int64_t count = 2; count <= rows; ++count)
    if (rows % count == 0) found.push_back(equal_ones(rows, count));
  return found;
}

void add_once(std::vector<Partition>& all, Partition sizes) {
  if (sizes.size() > 1 && std::ranges::find(all, sizes) == all.end()) all.push_back(std::move(sizes));
}

/// Adds two partitions for each number of ranks: one micro-batch on each, and two.
void add_ranks(std::vector<Partition>& all, const VaryRuns& runs) {
  for (const int ranks : runs.nproc)
    for (const std::int64_t each : {1, 2})
      if (ranks > 1 && runs.rows % (ranks * each) == 0) {
        Partition sizes = equal_ones(runs.rows, ranks * each);
        sizes.ranks = ranks;
        add_once(all, std::move(sizes));
      }
}

std::vector<Partition> of_one_rank(const VaryRuns& runs) {
  if (runs.equal_only) return all_equal_ones(runs.rows);
  std::vector<Partition> all;
  for (const std::int64_t count : {2, 4})
    if (runs.rows % count == 0) add_once(all, equal_ones(runs.rows, count));
  add_once(all, short_last(runs.rows, 3));
  std::mt19937_64 drawn(runs.seed);
  for (int i = 0; i < 2; ++i) add_once(all, uneven(runs.rows, drawn));
  add_once(all, equal_ones(runs.rows, runs.rows));
  return all;
}

}  // namespace

std::vector<Partition> partitions_of(const VaryRuns& runs) {
  std::vector<Partition> all = of_one_rank(runs);
  add_ranks(all, runs);
  return all;
}

std::vector<Partition> coarser(const Partition& sizes) {
  std::vector<Partition> all;
  for (std::size_t i = 0; i + 1 < sizes.size() && sizes.size() > 2 && sizes.ranks == 1; ++i) {
    Partition joined = sizes;
    joined[i] += joined[i + 1];
    joined.erase(joined.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    add_once(all, std::move(joined));
  }
  return all;
}

bool is_equal(const Partition& sizes) { return std::ranges::adjacent_find(sizes, std::not_equal_to{}) == sizes.end(); }

}  // namespace tally
