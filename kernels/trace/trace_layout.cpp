#include "kernels/trace/trace_layout.hpp"

#include <algorithm>

#include "kernels/trace/tap_name.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/case/sharding.hpp"

namespace tally {
namespace {

/// Whether a tap's name has a stage of a pipeline exactly where that tells it from others, and one of its own.
bool names_a_pipe(const Case& c, const TapName& name) {
  if (!is_pipelined(c)) return name.pipe < 0;
  const int stages = static_cast<int>(stages_of(c)), asked = std::max(name.pipe, 0);
  return name.pipe < stages && pipe_in_name(name.stage, name.tensor, name.micro_batch, asked) == name.pipe;
}

/// Whether it has a rank exactly where several train, and one of theirs.
bool names_a_rank(const Case& c, const TapName& name) {
  if (!names_a_pipe(c, name)) return false;
  if (c.dealt.empty()) return name.rank < 0;
  const auto window = static_cast<std::size_t>(name.window);
  return name.rank >= 0 && name.window >= 0 && window < c.windows.size() &&
         static_cast<std::size_t>(name.rank) < ranks_of(c, window);
}

/// Whether the node is there at this window and micro-batch.
bool is_there(const Case& c, const Node& node, const Port& port, const TapName& name) {
  const auto window = static_cast<std::size_t>(name.window), micro_batch = static_cast<std::size_t>(name.micro_batch);
  if (node.stage == StageName::checkpoint)
    return port.input ? leaves_checkpoint(c, window) : begins_from_checkpoint(c, window);
  if (node.of_window || micro_batch < c.windows[window].size()) return true;
  return node.without_rows && in_ranks(c) && micro_batch < micro_steps_of(c, window);
}

/// The shape with what the micro-batch says of it.
std::vector<std::int64_t> shape_at(const Case& c, std::vector<std::int64_t> shape, const TapName& name) {
  const auto window = static_cast<std::size_t>(name.window), micro_batch = static_cast<std::size_t>(name.micro_batch);
  const bool has_rows = name.micro_batch >= 0 && micro_batch < c.windows[window].size();
  const std::int64_t rows = has_rows ? c.windows[window][micro_batch] : 0;
  for (std::int64_t& size : shape) {
    if (size == rows_in_place) size = rows;
    if (size == pairs_in_place) size = pairs_of(c, first_row(c, window, micro_batch), rows);
    if (size == sequences_in_place) size = sequence_lengths(c, window, micro_batch).shape.front();
  }
  return shape;
}

}  // namespace

/// One rank's part, and its layouts.
struct TapLayouts::Rank {
  Rank(const Case& whole, std::size_t rank) : part(part_of(whole, rank)), layouts(part) {}
  const Case part;
  TapLayouts layouts;
};

const Case& TapLayouts::generation_with_window(int window) {
  if (!is_elastic(case_)) return case_;
  const std::size_t which = generation_with(case_, static_cast<std::size_t>(window));
  auto& generation = generations_[which];
  if (!generation) generation = std::make_shared<const Case>(generation_of(case_, which));
  return *generation;
}

std::optional<TapLayout> TapLayouts::of(const TapName& name) {
  if (!names_a_rank(case_, name)) return std::nullopt;
  if (name.rank < 0) return of_one_rank(name);
  const std::size_t which = generation_with(case_, static_cast<std::size_t>(name.window));
  auto& rank = ranks_[{which, name.rank}];
  if (!rank) rank = std::make_shared<Rank>(generation_with_window(name.window), static_cast<std::size_t>(name.rank));
  return rank->layouts.of_one_rank(of_rank(name, -1));
}

std::optional<TapLayout> TapLayouts::of_one_rank(const TapName& name) {
  if (name.window < 0 || static_cast<std::size_t>(name.window) >= case_.windows.size()) return std::nullopt;
  if (!graph_) graph_.emplace(case_);
  const Node* node = graph_->node(name.stage, name.micro_batch < 0);
  const Port* port = graph_->port(name.stage, name.micro_batch < 0, name.tensor);
  if (port == nullptr || port->has_no_piece || !is_there(case_, *node, *port, name)) return std::nullopt;
  if (port->pipe >= 0 && port->pipe != name.pipe) return std::nullopt;
  return TapLayout{dtype_of(case_, port->format), shape_at(case_, port->shape, name)};
}

std::optional<TapLayout> layout_of(const Case& c, const TapName& name) { return TapLayouts(c).of(name); }

}  // namespace tally
