#include "reports/census/kernels.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

namespace tally {
namespace {

using Key = std::tuple<std::string, std::string, std::string>;

struct Gathered {
  KernelResult result;
  std::set<std::string> shapes;
};

void add_operation(Gathered& kernel, const CaseRecord& c, const OperationRecord& o, const Usual& usual) {
  const OperationStanding& standing = o.standing;
  KernelResult& result = kernel.result;
  ++result.cases, result.checks += standing.checks, result.vacuous += standing.vacuous;
  std::istringstream shapes(standing.shapes);
  for (std::string shape; shapes >> shape;) kernel.shapes.insert(shape);
  result.ratio = std::max(result.ratio, standing.ratio),
  result.roundings = std::max(result.roundings, standing.roundings);
  const bool nearer = standing.excess > result.excess,
             same = result.worst && standing.excess == result.excess && c.id < result.worst->id;
  if (!nearer && !same) return;
  result.excess = standing.excess, result.worst = &c;
  result.share = usual.share(o.operation, standing.format, standing.excess);
}

/// How many ways of its launches there are, and were taken, by "operation/variant".
std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> paths_of(const Results& results) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> paths;
  for (const TriggerRecord& trigger : results.triggers) {
    if (trigger.kind != "path") continue;
    auto& [all, seen] = paths[trigger.name.substr(0, trigger.name.find(','))];
    ++all, seen += trigger.seen > 0;
  }
  return paths;
}

}  // namespace

std::vector<KernelResult> kernel_results(const Results& results, const Usual& usual) {
  std::map<Key, Gathered> kernels;
  for (const CaseRecord& c : results.cases) {
    for (const OperationRecord& o : c.operations) {
      if (o.standing.checks == 0) continue;
      Gathered& kernel = kernels[{o.operation, o.variant, o.standing.format}];
      kernel.result.operation = o.operation, kernel.result.variant = o.variant;
      kernel.result.format = o.standing.format;
      add_operation(kernel, c, o, usual);
    }
  }
  const auto paths = paths_of(results);
  std::vector<KernelResult> out;
  for (auto& [key, kernel] : kernels) {
    KernelResult& result = out.emplace_back(std::move(kernel.result));
    result.shapes = kernel.shapes.size();
    const bool fused = result.variant.find('/') != std::string::npos;  // "clip_decay_step/multi_tensor"
    if (const auto found = paths.find(fused ? result.variant : result.name()); found != paths.end())
      std::tie(result.paths, result.paths_seen) = found->second;
  }
  std::stable_sort(out.begin(), out.end(), [](const KernelResult& a, const KernelResult& b) {
    return std::tuple(a.share, -a.excess) < std::tuple(b.share, -b.excess);
  });
  return out;
}

}  // namespace tally
