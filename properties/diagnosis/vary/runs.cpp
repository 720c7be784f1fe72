// What has been run and what has to be, ways to deal the rows of a window, whether the whole batch can be held against
// them, and the terms of its loss.
#include "properties/diagnosis/vary/runs.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "properties/diagnosis/vary/causes.hpp"
#include "properties/diagnosis/vary/gap.hpp"

namespace tally {
namespace {

template <class Kept, class How>
const Kept* kept_or_null(const std::vector<Kept>& all, const How& how) {
  const auto found = std::ranges::find(all, how, &Kept::how);
  return found == all.end() ? nullptr : &*found;
}

template <class Kept, class How>
const Kept* kept_or_asked(const std::vector<Kept>& all, const How& how, std::vector<How>& asked) {
  const Kept* kept = kept_or_null(all, how);
  if (kept == nullptr && std::ranges::find(asked, how) == asked.end()) asked.push_back(how);
  return kept;
}

}  // namespace

const VaryRun* RunBook::run(const HowRun& how) { return kept_or_asked(runs_.runs, how, asks_.runs); }

const VaryWeights* RunBook::weights(const HowWeights& how) { return kept_or_asked(runs_.weights, how, asks_.weights); }

const VaryRun* RunBook::found(const HowRun& how) const { return kept_or_null(runs_.runs, how); }

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

namespace {

bool refuse(VaryReport& report, const std::string& cause, const std::string& what, const std::string& change) {
  report.verdict = "error", report.cause = cause, report.what = what, report.change = change;
  return false;
}

bool came_to_an_end(VaryReport& report, const VaryRun& run, const std::string& which) {
  if (run.error)
    return refuse(report, "error", which + " ends with " + error_text(*run.error),
                  "give a step that runs; a model that `make` does not return stays in its own format");
  if (const std::string tensor = not_finite_in(run); !tensor.empty())
    return refuse(report, "not finite in the whole batch", which + " leaves elements that are not finite in " + tensor,
                  "use rows and a learning rate at which the loop trains");
  return true;
}

/// The farthest of any tensor, and whose it is.
std::pair<double, std::string> distance_of(const VaryRun& run) {
  std::pair<double, std::string> most{0, ""};
  for (const VaryTensor& tensor : run.tensors)
    if (!(tensor.distance() <= most.first)) most = {tensor.distance(), tensor.name};
  return most;
}

bool has_the_same_rows(VaryReport& report, const VaryRun& whole, const VaryRun& again) {
  if (whole.rows_hash == again.rows_hash) return true;
  return refuse(report, "other rows", "the whole batch has other rows when it is run again from the same seed",
                "draw rows from torch's generator, or keep them");
}

/// Alike to the bit, or up to what rounding of another order may do.
bool ends_alike(VaryReport& report, const VaryRuns& runs, const VaryRun& again, const VaryRun& moved) {
  const auto [most, whose] = distance_of(again);
  if (most == 0) return true;
  for (const VaryTensor& tensor : again.tensors) {
    const auto noise = std::ranges::find(moved.tensors, tensor.name, &VaryTensor::name);
    if (noise != moved.tensors.end() && tensor.distance() <= boundary_of(runs) * noise->distance()) continue;
    return refuse(report, "state outside",
                  "the whole batch ends at other values when it is run again from the same seed (" + tensor.name +
                      ", " + figure_text(tensor.distance()) + " of its largest element)",
                  "create all state of the loop in `make`, and draw from torch's generator");
  }
  const std::string note = "the same run, repeated, ends " + figure_text(most) + " apart (" + whose +
                           "): kernels that add in no fixed order";
  if (std::ranges::find(report.notes, note) == report.notes.end()) report.notes.push_back(note);
  return true;
}

/// Whether noise like that of the moved run hides a gap of more than half of the high precision's digits.
bool hides_much(const VaryRuns& runs, const VaryRun& moved) {
  return boundary_of(runs) * distance_of(moved).first > sharpness_of(runs);
}

}  // namespace

bool whole_batch_stands(VaryReport& report, RunBook& book) {
  const VaryRuns& runs = book.runs();
  const VaryRun* whole = book.run(whole_run(runs, {}));
  if (whole == nullptr) return false;
  if (!came_to_an_end(report, *whole, "the whole batch at once in " + runs.precisions.front())) return false;
  if (!whole->trained)
    return refuse(report, "nothing trained",
                  std::to_string(runs.windows) + " windows change no tensor of what `make` returned",
                  "return the models and optimizers of the loop from `make`");
  const VaryRun* moved = book.run(whole_run(runs, {}, 1));
  if (moved == nullptr) return false;
  if (hides_much(runs, *moved) && !whole_batch_repeats(report, book)) return false;
  return came_to_an_end(report, *moved, "the whole batch, moved by half an ulp of " + runs.precisions.back() + ",");
}

bool whole_batch_repeats(VaryReport& report, RunBook& book) {
  const VaryRuns& runs = book.runs();
  HowRun twice = whole_run(runs, {});
  twice.again = true;
  const VaryRun* again = book.run(twice);
  if (again == nullptr) return false;
  return came_to_an_end(report, *again, "the whole batch, run a second time,") &&
         has_the_same_rows(report, *book.run(whole_run(runs, {})), *again) &&
         ends_alike(report, runs, *again, *book.run(whole_run(runs, {}, 1)));
}

bool hold_other_rows(VaryReport& report, RunBook& book, const Partition& sizes) {
  const VaryRun* whole = book.found(whole_run(book.runs(), {}));
  const VaryRun* parted = book.found(high_run(book.runs(), sizes, {}));
  if (whole == nullptr || parted == nullptr || parted->error || whole->rows_hash.empty() || parted->rows_hash.empty())
    return false;
  if (whole->rows_hash == parted->rows_hash) return false;
  if (!whole_batch_repeats(report, book)) return true;
  if (const auto told = told_by_dealing(*parted)) {
    report.partition = sizes;
    return tell(report, *told), true;
  }
  if (const auto told = told_by_left_over(*whole, *parted)) {
    report.partition = sizes;
    return tell(report, *told), true;
  }
  refuse(report, "other rows", partition_text(sizes) + " have other rows than the whole batch",
         sizes.ranks > 1
             ? "give each rank its own share of the same rows, as a DistributedSampler does, and divide the "
               "batch size by the ranks"
             : "deal out the same rows for every micro-batch size: in an order that does not depend on the batch size, "
               "without dropping the rows after the last full one (`drop_last=False`)");
  return true;
}

namespace {

bool is_sum(const VaryPart& part, double sharpness) { return part.rest <= sharpness && part.meant_rest <= sharpness; }

bool is_wrong(const VaryPart& part, double sharpness) {
  for (std::size_t k = 0; k < part.found.size(); ++k)
    if (!(std::fabs(part.found[k] - part.meant[k]) <= sharpness * std::fabs(part.meant[k]))) return true;
  return false;
}

std::string name_of(const VaryPart& part) {
  if (part.place.file.empty()) return part.name;
  return part.name + " at " + part.place.file + ":" + std::to_string(part.place.line);
}

}  // namespace

std::optional<std::size_t> wrong_part(const VaryWeights& weights, double sharpness) {
  const auto wrong = [&](const VaryPart& part) { return is_wrong(part, sharpness); };
  if (!std::ranges::all_of(weights.parts, [&](const VaryPart& part) { return is_sum(part, sharpness); }))
    return std::nullopt;
  const auto found = std::ranges::find_if(weights.parts, wrong);
  if (found == weights.parts.end()) return std::nullopt;
  return static_cast<std::size_t>(found - weights.parts.begin());
}

VaryWeights weights_of(const VaryWeights& weights, std::size_t index) {
  const VaryPart& part = weights.parts[index];
  VaryWeights own = weights;
  own.found = part.found, own.meant = part.meant, own.rest = part.rest, own.meant_rest = part.meant_rest;
  if (!part.place.file.empty()) own.place = part.place;
  return own;
}

std::optional<VaryWeights> as_told(const VaryWeights& weights, std::optional<std::size_t> part, double sharpness) {
  const bool has = !part || *part < weights.parts.size();
  if (weights.found.empty() || !has) return std::nullopt;
  const VaryWeights told = part ? weights_of(weights, *part) : weights;
  return told.rest <= sharpness && told.meant_rest <= sharpness ? std::optional(told) : std::nullopt;
}

std::string whose_text(const VaryWeights& weights, std::size_t part, double sharpness) {
  std::string others;
  std::size_t right = 0;
  for (const VaryPart& other : weights.parts) {
    if (!is_wrong(other, sharpness)) {
      ++right;
    } else if (&other != &weights.parts[part]) {
      others += (others.empty() ? "" : ", ") + name_of(other);
    }
  }
  std::string text =
      name_of(weights.parts[part]) + ", one of the loss's " + std::to_string(weights.parts.size()) + " terms, is wrong";
  if (!others.empty()) text += ", and so is " + others;
  if (right == 0) return text;
  return text + (right == 1 ? " and the other is right" : " and the others are right");
}

}  // namespace tally
