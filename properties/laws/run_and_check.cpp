// What most laws share: run a case, judge what it left, hold rows of it against the full batch or another run.
#include "properties/laws/run_and_check.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/training_step/run/cost.hpp"
#include "kernels/training_step/run/own_step.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/exact/answer.hpp"
#include "properties/judge/two_runs.hpp"
#include "properties/laws/judge.hpp"

namespace tally {

CheckedRun::CheckedRun() = default;
CheckedRun::CheckedRun(const CheckedRun&) = default;
CheckedRun::CheckedRun(CheckedRun&&) noexcept = default;
CheckedRun& CheckedRun::operator=(const CheckedRun&) = default;
CheckedRun& CheckedRun::operator=(CheckedRun&&) noexcept = default;
CheckedRun::~CheckedRun() = default;
namespace {

thread_local std::vector<RunObserver*> watching;

}  // namespace

RunObserver::RunObserver() { watching.push_back(this); }
RunObserver::~RunObserver() { std::erase(watching, this); }

CheckedRun run_and_check(const Case& c, const RunOptions& options) {
  CheckedRun checked;
  const LaunchScope launches;
  const KernelClock clock;
  try {
    checked.trace = run(c, options);
  } catch (const NotSupported& reason) {
    checked.outcome.status = Status::not_run;
    checked.outcome.message = reason.what();
    return checked;
  }
  checked.paths = launches.paths();
  checked.seconds = clock.seconds();
  // A step of a user's own need not tap all: taps may miss where a later one shows what came of them.
  const bool whole = own_step(options) == nullptr || !checked.trace.groups.empty();
  checked.outcome = judge_grouped(c, checked.trace, whole ? Grouping::declared : Grouping::inferred);
  for (RunObserver* observer : watching) observer->see_run(c, checked);
  return checked;
}

void tell_launches(ExecutorKind executor, const std::set<LaunchPath>& paths) {
  for (RunObserver* observer : watching) observer->see_launches(executor, paths);
}

void tell_trigger(std::string_view name) {
  for (RunObserver* observer : watching) observer->see_trigger(name);
}

Outcome against_full_batch(const Case& c, const RunOptions& subject, const std::string& gap) {
  const Case whole = full_batch_of(c);
  CheckedRun apart = run_and_check(c, subject), together = run_and_check(whole, subject);
  Outcome outcome = std::move(apart.outcome);
  add(outcome, together.outcome);
  if (outcome.status == Status::not_run) return outcome;
  TwoRuns runs = compare_runs(c, apart.trace, whole, together.trace);
  for (TensorCheck& check : runs.checks) add(outcome, std::move(check));
  outcome.decision_drift = runs.decision_drift;
  outcome.semantic_gap = oracle::first_gradient_gap(c);
  require(outcome, outcome.semantic_gap == 0, "w0/semantic_gap", "loss", gap);
  return outcome;
}

namespace {

bool is_of_a_parameter(const std::vector<std::string>& parameters, std::string_view tensor) {
  for (const std::string_view mark : {"in.", "d."})
    if (tensor.starts_with(mark)) tensor.remove_prefix(mark.size());
  return tensor.find('@') != std::string_view::npos || std::ranges::find(parameters, tensor) != parameters.end();
}

bool same(const Tensor& a, const Tensor& b, std::size_t i) {
  if (a.bits(i) == b.bits(i)) return true;
  const bool floats = a.dtype != Dtype::i64 && a.dtype != Dtype::u8;
  return floats && (a.value(i) == b.value(i) || (std::isnan(a.value(i)) && std::isnan(b.value(i))));
}

/// Has no row for a row, though it may have as many.
bool is_mask_of_pairs(const Case& c, const std::string& tensor) {
  return tensor.starts_with("in.") && has_pairs(c, tensor.substr(3));
}

/// The first of these rows that holds other bits, counted in the case's rows; -1: none.
std::int64_t other_row(const Tensor& a, const Tensor& b, std::int64_t first, const std::vector<bool>& rows) {
  const std::size_t width = a.elements() / static_cast<std::size_t>(a.shape.front());
  for (std::size_t i = 0; i < a.elements(); ++i) {
    const std::int64_t row = first + static_cast<std::int64_t>(i / width);
    if (rows[static_cast<std::size_t>(row)] && !same(a, b, i)) return row;
  }
  return -1;
}

}  // namespace

bool require_equal_rows(Outcome& outcome, const Case& c, const Trace& expected, const Trace& got,
                        const std::vector<bool>& rows, const std::string& message) {
  const PromisedBits promised(expected), also(got);
  const std::vector<std::string> parameters = parameters_of(c.model);
  bool held = false;
  for (const Tap& tap : expected.taps()) {
    const TapName& name = tap.name;
    const bool stage =
        name.stage == "forward" || name.stage == "loss" || name.stage == "backward" || name.stage == "fork";
    if (!stage || name.window != 0 || name.micro_batch < 0 || is_of_a_parameter(parameters, name.tensor)) continue;
    if (is_mask_of_pairs(c, name.tensor)) continue;
    const std::int64_t size = c.windows.front()[static_cast<std::size_t>(name.micro_batch)];
    if (tap.value.shape.empty() || tap.value.shape.front() != size || tap.value.elements() == 0) continue;
    if (!promised.of(name) || !also.of(name)) continue;
    const Tensor* other = got.find(name.view());
    if (other == nullptr || other->shape != tap.value.shape) {
      require(outcome, false, name.text(), name.stage, "the other run left no such tensor");
      continue;
    }
    const std::int64_t first = first_row(c, 0, static_cast<std::size_t>(name.micro_batch));
    held = held || std::any_of(rows.begin() + first, rows.begin() + first + size, std::identity());
    const std::int64_t row = other_row(tap.value, *other, first, rows);
    require(outcome, row < 0, name.text(), name.stage, message + " (row " + std::to_string(row) + ")");
  }
  return held;
}

Case with_other_tokens(Case c, const std::vector<bool>& rows) {
  Tensor& tokens = c.tensors.at("tokens");
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (rows[row]) tokens.set_bits(row, static_cast<std::uint64_t>((tokens.integer(row) + 1) % c.model.input));
  tokens.drawing.reset();
  return c;
}

namespace {

/// The micro-batch of the first window that holds a row, and the row's place there.
struct At {
  int micro_batch;
  std::size_t row;
};

At at(const Case& c, std::int64_t row) {
  int k = 0;
  for (const std::int64_t size : c.windows.front()) {
    if (row < size) break;
    row -= size;
    ++k;
  }
  return {k, static_cast<std::size_t>(row)};
}

/// nullopt where a part of it is missing, or is no tensor of rows.
std::optional<Tensor> gathered(const Tap& tap, const Case& other, const Trace& got, std::int64_t first,
                               const std::vector<std::int64_t>& places) {
  Tensor rows(tap.value.dtype, tap.value.shape);
  const auto count = static_cast<std::size_t>(rows.shape.front());
  const std::size_t width = rows.elements() / count;
  for (std::size_t i = 0; i < count; ++i) {
    const At from = at(other, places[static_cast<std::size_t>(first) + i]);
    const Tensor* part = got.find(TapView{0, from.micro_batch, tap.name.stage, tap.name.tensor});
    if (part == nullptr || part->dtype != rows.dtype || part->shape.empty() ||
        part->shape.front() != other.windows.front()[static_cast<std::size_t>(from.micro_batch)] ||
        part->elements() != width * static_cast<std::size_t>(part->shape.front()))
      return {};
    for (std::size_t j = 0; j < width; ++j) rows.set_bits(i * width + j, part->bits(from.row * width + j));
  }
  return rows;
}

}  // namespace

Trace rows_as_in(const Case& c, const Trace& expected, const Case& other, const Trace& got,
                 const std::vector<std::int64_t>& places) {
  Trace moved;
  moved.claims = got.claims;
  for (const Tap& tap : expected.taps()) {
    if (tap.name.window != 0 || tap.name.micro_batch < 0 || tap.value.shape.empty()) continue;
    const auto k = static_cast<std::size_t>(tap.name.micro_batch);
    if (tap.value.shape.front() != c.windows.front()[k] || tap.value.elements() == 0) continue;
    if (std::optional<Tensor> rows = gathered(tap, other, got, first_row(c, 0, k), places))
      moved.add(tap.name, *std::move(rows));
  }
  return moved;
}

std::vector<double> items_of(const Case& c, std::size_t window) {
  std::vector<double> items;
  for (std::size_t k = 0; k < c.windows[window].size(); ++k) {
    double sum = 0;
    for (std::int64_t i = 0; i < c.windows[window][k]; ++i)
      sum += item_weight(c, first_row(c, window, k) + i).to_double();
    items.push_back(sum);
  }
  return items;
}

bool has_equal_items(const Case& c) {
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::vector<double> items = items_of(c, w);
    if (items != std::vector<double>(items.size(), items.front())) return false;
  }
  return true;
}

}  // namespace tally
