// Which taps a case can have, and their formats and shapes: the table of kernels/trace/trace.md as a function.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"

namespace tally {

/// What a tap must look like.
struct TapLayout {
  Dtype dtype;
  std::vector<std::int64_t> shape;
};

/// The names of a model's parameters: those that train, and those with the frozen ones.
struct ParameterNames {
  std::vector<std::string> trained, all;
};

/// nullopt when the case has no such tap: an unknown window, rank, micro-batch, stage or tensor.
std::optional<TapLayout> layout_of(const Case& c, const TapName& name);

/// The same for all taps of one case, each name's layout looked up once for micro-batches of as many rows.
class TapLayouts {
 public:
  /// The case must outlive this object.
  explicit TapLayouts(const Case& c);
  const std::optional<TapLayout>& of(const TapName& name);

 private:
  struct Rank;
  const std::optional<TapLayout>& of_a_rank(const TapName& name);

  const Case& case_;
  ParameterNames names_;
  std::map<std::size_t, std::shared_ptr<const Case>> generations_;      // of a case whose ranks change
  std::map<std::pair<std::size_t, int>, std::shared_ptr<Rank>> ranks_;  // by generation and rank
  std::unordered_map<std::string, std::optional<TapLayout>> known_;
};

}  // namespace tally
