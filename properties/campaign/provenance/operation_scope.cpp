// What every kernel operation read and wrote in the runs that a law judged.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <set>

#include "oracle/case/io.hpp"
#include "properties/campaign/provenance/operation.hpp"
#include "properties/judge/lens.hpp"

namespace tally {
namespace {

constexpr std::size_t digest_digits = 16;

void append(std::string& text, const Tap& tap) {
  append(text, tap.name.view());
  text += '\n';
  text.append(reinterpret_cast<const char*>(tap.value.bytes.data()), tap.value.bytes.size());
}

/// The mean square of ||error|| / ||bound|| so far.
struct MeanSquare {
  double sum = 0;
  std::size_t tensors = 0;
  void add(const TensorCheck& check) {
    const double ratio = check.norm_error == 0 ? 0 : check.norm_error / check.norm_bound;
    sum += ratio * ratio;
    ++tensors;
  }
  double root() const { return tensors == 0 ? 0 : std::sqrt(sum / static_cast<double>(tensors)); }
};

/// What the checks of an operation's tensors come to.
struct Standing {
  MeanSquare drift;
  OperationStanding record;

  void add(const TensorCheck& check) {
    ++record.checks;
    record.vacuous += check.status == Status::vacuous;
    if (check.status != Status::pass && check.status != Status::fail) return;
    if (check.lens == "local" && std::isfinite(check.norm_bound)) drift.add(check);
    if (!(check.worst_ratio <= record.ratio))  // one that is no number stands beyond every limit
      record.ratio = std::isnan(check.worst_ratio) ? std::numeric_limits<double>::infinity() : check.worst_ratio;
    if (check.lens == "local") record.excess = std::max(record.excess, check.excess);  // what the evidence counts
    record.roundings = std::max(record.roundings, check.roundings);
  }
};

std::map<std::string, Standing> standings_of(const Case& c, const std::vector<TensorCheck>& checks) {
  std::map<std::string, Standing> standings;
  for (const TensorCheck& check : checks) {
    if (check.lens != "local" && check.lens != "group") continue;
    if (const TapName name = tap_name_of(check.tap); !name.tensor.starts_with("in."))
      standings[operation_writing(c, name)].add(check);
  }
  return standings;
}

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// "4x3"; of a single number "1".
std::string shape_text(const Tensor& tensor) {
  std::string text;
  for (const std::int64_t extent : tensor.shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "1" : text;
}

/// To three digits, towards 0: 0.9997 is no limit reached.
double rounded(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  const double unit = std::pow(10.0, std::floor(std::log10(std::fabs(x))) - 2);
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", std::trunc(x / unit) * unit);
  return std::strtod(text, nullptr);
}

const StageGroup* group_of(const Trace& trace, const TapName& name) {
  for (const StageGroup& group : trace.groups)
    if (group.holds(name.stage)) return &group;
  return nullptr;
}

/// What writes the taps of a group of fused stages: each of these operations may read whatever the group does.
std::map<const StageGroup*, std::set<std::string>> fused_operations(const Case& c, const Trace& trace) {
  std::map<const StageGroup*, std::set<std::string>> fused;
  for (const Tap& tap : trace.taps()) {
    const std::string writer = operation_writing(c, tap.name);
    if (const StageGroup* group = group_of(trace, tap.name); group != nullptr && !writer.empty())
      fused[group].insert(writer);
  }
  return fused;
}

}  // namespace

std::vector<OperationRecord> OperationScope::records(const Case& c, const std::vector<TensorCheck>& checks) const {
  const auto standings = standings_of(c, checks);
  std::vector<OperationRecord> records;
  for (const auto& [kernel, seen] : seen_) {
    if (seen.outputs.empty()) continue;
    const auto found = standings.find(kernel.first);
    const Standing standing = found == standings.end() ? Standing{} : found->second;
    records.push_back({kernel.first, kernel.second, sha256(seen.inputs).substr(0, digest_digits),
                       sha256(seen.outputs).substr(0, digest_digits), seen.repeats, standing.drift.root(),
                       standing.record, unseen_by(c, kernel.first)});
    OperationStanding& record = records.back().standing;
    record.format = joined(seen.formats), record.shapes = joined(seen.shapes);
    record.ratio = rounded(record.ratio), record.excess = rounded(record.excess);
    record.roundings = rounded(record.roundings);
  }
  return records;
}

void OperationScope::see_run(const Case& c, const CheckedRun& run) {
  see(c, run.trace);
  for (const auto& [operation, seconds] : run.seconds) seconds_[operation] += seconds;
  if (const TensorCheck* failure = first_failure(run.outcome.checks))
    failing_.emplace(failure->tap, tally::failing_kernel(c, run.outcome.checks, run.trace.claims));
}

std::string OperationScope::failing_kernel(const std::vector<TensorCheck>& checks) const {
  const TensorCheck* failure = first_failure(checks);
  const auto found = failure == nullptr ? failing_.end() : failing_.find(failure->tap);
  return found == failing_.end() ? "" : found->second;
}

void OperationScope::see(const Case& c, const Trace& trace) {
  const auto fused = fused_operations(c, trace);
  const auto seen = [&](const std::string& operation) -> Seen& {
    return seen_[{operation, variant_of(trace.claims, operation)}];
  };
  for (const Tap& tap : trace.taps()) {
    const auto named = operations_reading(c, tap.name);
    std::set<std::string> readers(named.begin(), named.end());
    if (const StageGroup* group = group_of(trace, tap.name); group != nullptr && tap.name.tensor.starts_with("in."))
      readers.insert(fused.at(group).begin(), fused.at(group).end());
    for (const std::string& reader : readers) append(seen(reader).inputs, tap);
    const std::string writer = operation_writing(c, tap.name);
    if (writer.empty()) continue;
    Seen& written = seen(writer);
    append(written.outputs, tap);
    written.formats.insert(std::string(name_of(tap.value.dtype))), written.shapes.insert(shape_text(tap.value));
  }
  for (auto& [kernel, what] : seen_) {
    const auto& [operation, variant] = kernel;
    if (variant_of(trace.claims, operation) != variant) continue;  // of another run
    const auto slash = variant.find('/');
    const auto claim =
        trace.claims.kernels.find(slash == std::string::npos ? claimed_name_of(operation) : variant.substr(0, slash));
    what.repeats = what.repeats && (claim == trace.claims.kernels.end() || claim->second.repeats == Repeats::bitwise);
  }
}

}  // namespace tally
