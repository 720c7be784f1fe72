// Taps of a layer by its label, and those of running values.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "kernels/trace/window_layout.hpp"

namespace tally::taps {

/// `<L>.<tensor>` of a layer: its index and the tensor's short name.
struct LayerTap {
  std::size_t layer;
  std::string_view tensor;
};
std::optional<LayerTap> layer_tap(const Place& at);

bool is_batch_norm(const Layer& layer, std::string_view statistics);

/// Of the stage `running_stats`: what moves and what it is moved by, and what ranks begin a window with.
Layout running_stats_tap(const Place& at);

}  // namespace tally::taps
