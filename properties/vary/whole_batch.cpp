#include "properties/vary/whole_batch.hpp"

#include <algorithm>
#include <cmath>

#include "properties/vary/causes.hpp"
#include "properties/vary/gap.hpp"
#include "properties/vary/told_cause.hpp"

namespace tally {
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
                  "give rows and a rate at which the loop trains");
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
  return refuse(report, "other rows", "the same whole batch from the same seed holds other rows a second time",
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
                  "the same whole batch from the same seed ends elsewhere a second time (" + tensor.name + ", " +
                      figure_text(tensor.distance()) + " of its largest element)",
                  "make all that the loop keeps in `make`, and draw from torch's generator");
  }
  const std::string note =
      "the same run twice ends " + figure_text(most) + " apart (" + whose + "): kernels that add in no fixed order";
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
  refuse(report, "other rows", partition_text(sizes) + " hold other rows than the whole batch",
         sizes.ranks > 1
             ? "give each rank its own share of the same rows, as a DistributedSampler does, and divide the "
               "batch size by the ranks"
             : "deal the same rows whatever the size of a micro-batch: an order that does not depend on the "
               "batch size, and no rows dropped behind the last full one (`drop_last=False`)");
  return true;
}

}  // namespace tally
