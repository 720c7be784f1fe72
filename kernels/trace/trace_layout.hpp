// Which taps a case can have, and their formats and shapes, by the graph of a window (oracle/graph/window_graph.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "oracle/graph/window_graph.hpp"

namespace tally {

/// What a tap must look like.
struct TapLayout {
  Dtype dtype;
  std::vector<std::int64_t> shape;
};

/// The layouts of all taps of one case.
class TapLayouts {
 public:
  /// The case must outlive this object.
  explicit TapLayouts(const Case& c) : case_(c) {}
  /// nullopt when the case has no such tap: an unknown window, rank, micro-batch, stage or tensor.
  std::optional<TapLayout> of(const TapName& name);

 private:
  struct Rank;
  const Case& generation_with_window(int window);
  std::optional<TapLayout> of_one_rank(const TapName& name);

  const Case& case_;
  std::optional<WindowGraph> graph_;                                    // of one rank alone
  std::map<std::size_t, std::shared_ptr<const Case>> generations_;      // of a case whose ranks change
  std::map<std::pair<std::size_t, int>, std::shared_ptr<Rank>> ranks_;  // by generation and rank
};

/// The same of one tap.
std::optional<TapLayout> layout_of(const Case& c, const TapName& name);

}  // namespace tally
