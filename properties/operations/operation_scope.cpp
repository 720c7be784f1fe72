#include "properties/operations/operation_scope.hpp"

#include <cmath>
#include <set>

#include "oracle/case/io.hpp"
#include "properties/operations/operation.hpp"

namespace tally {
namespace {

thread_local OperationScope* scope = nullptr;

constexpr std::size_t digest_digits = 16;

void append(std::string& text, const Tap& tap) {
  text += tap.name.text() + "\n";
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

std::map<std::string, MeanSquare> drifts_of(const Case& c, const std::vector<TensorCheck>& checks) {
  std::map<std::string, MeanSquare> drifts;
  for (const TensorCheck& check : checks) {
    const bool judged = check.status == Status::pass || check.status == Status::fail;
    if (check.lens != "local" || !judged || !std::isfinite(check.norm_bound)) continue;
    if (const auto name = tap_name_of(check.tap); !name.tensor.starts_with("in."))
      drifts[operation_writing(c, name)].add(check);
  }
  return drifts;
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

OperationScope::OperationScope() { scope = this; }
OperationScope::~OperationScope() { scope = nullptr; }

std::vector<OperationRecord> OperationScope::records(const Case& c, const std::vector<TensorCheck>& checks) const {
  const auto drifts = drifts_of(c, checks);
  std::vector<OperationRecord> records;
  for (const auto& [kernel, seen] : seen_) {
    if (seen.outputs.empty()) continue;
    const auto drift = drifts.find(kernel.first);
    records.push_back({kernel.first, kernel.second, sha256(seen.inputs).substr(0, digest_digits),
                       sha256(seen.outputs).substr(0, digest_digits), seen.repeats,
                       drift == drifts.end() ? 0 : drift->second.root()});
  }
  return records;
}

void note_operations(const Case& c, const Trace& trace) {
  if (scope == nullptr) return;
  const auto fused = fused_operations(c, trace);
  const auto seen = [&trace](const std::string& operation) -> OperationScope::Seen& {
    return scope->seen_[{operation, variant_of(trace.claims, operation)}];
  };
  for (const Tap& tap : trace.taps()) {
    const auto named = operations_reading(c, tap.name);
    std::set<std::string> readers(named.begin(), named.end());
    if (const StageGroup* group = group_of(trace, tap.name); group != nullptr && tap.name.tensor.starts_with("in."))
      readers.insert(fused.at(group).begin(), fused.at(group).end());
    for (const std::string& reader : readers) append(seen(reader).inputs, tap);
    const std::string writer = operation_writing(c, tap.name);
    if (!writer.empty()) append(seen(writer).outputs, tap);
  }
  for (auto& [kernel, what] : scope->seen_) {
    const auto& [operation, variant] = kernel;
    if (variant_of(trace.claims, operation) != variant) continue;  // of another run
    const auto slash = variant.find('/');
    const auto claim =
        trace.claims.kernels.find(slash == std::string::npos ? claimed_name_of(operation) : variant.substr(0, slash));
    what.repeats = what.repeats && (claim == trace.claims.kernels.end() || claim->second.repeats == Repeats::bitwise);
  }
}

}  // namespace tally
