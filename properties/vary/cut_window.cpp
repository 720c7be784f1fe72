#include "properties/vary/cut_window.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "properties/vary/causes.hpp"
#include "properties/vary/gap.hpp"
#include "properties/vary/partitions.hpp"
#include "properties/vary/told_cause.hpp"

namespace tally {
namespace {

std::int64_t largest(const Partition& sizes) { return *std::ranges::max_element(sizes); }

/// "6 * 2".
std::string told_window(const Partition& sizes) {
  return std::to_string(largest(sizes)) + " * " + std::to_string(sizes.size());
}

std::string of_so_many_rows(const Partition& sizes) {
  return std::to_string(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0})) + " rows";
}

/// Whether every weight is that of a sum which is divided by the window that the loop was told of.
bool divides_by_the_told_window(const VaryWeights& weights, double sharpness) {
  const Partition& sizes = weights.how.sizes;
  const double told = static_cast<double>(largest(sizes)) * static_cast<double>(sizes.size());
  const double factor = static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0})) / told;
  for (std::size_t k = 0; k < weights.found.size(); ++k)
    if (!(std::fabs(weights.found[k] - factor * weights.meant[k]) <= sharpness * std::fabs(weights.meant[k])))
      return false;
  return true;
}

}  // namespace

bool is_cut(const VaryRuns& runs, const Partition& sizes) { return !runs.sizes_told && !is_equal(sizes); }

std::optional<VaryGap> cut_to_other_rows(const RunBook& book, const Partition& sizes) {
  const VaryRun* whole = book.found(whole_run(book.runs(), {}));
  const VaryRun* parted = book.found(high_run(book.runs(), sizes, {}));
  if (!is_cut(book.runs(), sizes) || whole == nullptr || parted == nullptr || parted->error) return std::nullopt;
  if (whole->rows_hash == parted->rows_hash || whole->rows_hash.empty() || parted->rows_hash.empty())
    return std::nullopt;
  if (told_by_left_over(*whole, *parted) || told_by_dealing(*parted)) return std::nullopt;
  VaryGap gap;
  gap.sizes = sizes, gap.kind = "not judged";
  gap.error = "the script takes other rows for a window of its batch size times K, " + told_window(sizes);
  return gap;
}

std::optional<std::string> excuse_of_the_cut(const VaryReport& report, RunBook& book, const VaryGap& gap,
                                             const std::vector<std::string>& frozen) {
  if (!is_cut(book.runs(), gap.sizes) || gap.kind != "meaning") return "";
  const double sharpness = sharpness_of(book.runs());
  VaryReport of_gap = report;
  const auto told = told_cause(of_gap, book, gap, frozen);
  if (!told) return std::nullopt;
  const VaryWeights& weights = of_gap.weights;
  const bool explains = weights.rest <= sharpness && weights.meant_rest <= sharpness;
  if (weights.found.empty() || !explains || !weights.dealt.empty()) return "";
  const std::string the_window = "its batch size times K, " + told_window(gap.sizes);
  if (divides_by_the_told_window(weights, sharpness))
    return "the script divides by " + the_window + ", and this window has " + of_so_many_rows(gap.sizes);
  if (!are_as_meant(weights, sharpness)) return "";
  return filled_in(vary_cause(told->name).what, told->numbers) + ": the script is told of a window of " + the_window +
         ", and this one has " + of_so_many_rows(gap.sizes);
}

}  // namespace tally
