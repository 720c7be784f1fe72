// How large a case may be. Every size is held against these before memory is taken for it.
#pragma once

#include <cstddef>

namespace tally {

/// Elements of one tensor, and of all activations of a case together: rows times features of each layer.
inline constexpr std::size_t most_elements = std::size_t{1} << 28;
/// The same of a case in a token, where a few letters draw a tensor of any size: of all its drawn tensors together,
/// and of its activations.
inline constexpr std::size_t most_token_elements = std::size_t{1} << 22;
/// Bytes of a case file, and of the JSON packed in a token.
inline constexpr std::size_t most_text = std::size_t{1} << 27;
/// Numbers, texts, lists and objects of one JSON text; larger tensors lie in a file beside the case.
inline constexpr std::size_t most_values = std::size_t{1} << 22;
/// Characters of one number: every binary64 can be written exactly.
inline constexpr std::size_t longest_number = 4096;
inline constexpr std::size_t most_layers = 1024;
inline constexpr std::size_t most_layer_inputs = 64;
/// The micro-batches of all windows together.
inline constexpr std::size_t most_micro_batches = std::size_t{1} << 14;
/// Bytes of a safetensors file, which is mapped where it is large, and of its header.
inline constexpr std::size_t most_tensor_file = std::size_t{1} << 40;
inline constexpr std::size_t longest_header = std::size_t{1} << 25;

/// Ranks that train together.
inline constexpr std::size_t most_ranks = 4096;

}  // namespace tally
