// The names of kinds that code asks for: a misspelt one does not compile. What a kind is, its contract says
// (oracle/case/contract.hpp); a kind that nobody asks for by name needs no line here.
#pragma once

#include <string_view>

namespace tally::kinds {

// Layers.
inline constexpr std::string_view add = "add", attention = "attention", batch_norm = "batch_norm", dropout = "dropout",
                                  embedding = "embedding", layer_norm = "layer_norm", linear = "linear",
                                  opaque = "opaque", position_embedding = "position_embedding", relu = "relu",
                                  rms_norm = "rms_norm", rotary = "rotary", scale = "scale", slice = "slice";

// Losses, optimizers, clips, decays, schedules, loss scales.
inline constexpr std::string_view cross_entropy = "cross_entropy", mse = "mse";
inline constexpr std::string_view adam = "adam", sgd = "sgd";
inline constexpr std::string_view global_norm = "global_norm", value = "value";
inline constexpr std::string_view decoupled = "decoupled", l2 = "l2";
inline constexpr std::string_view constant = "constant", warmup_cosine = "warmup_cosine";
inline constexpr std::string_view dynamic = "dynamic", fixed = "static";

/// No clip, decay or loss scale.
inline constexpr std::string_view none = "none";

}  // namespace tally::kinds
