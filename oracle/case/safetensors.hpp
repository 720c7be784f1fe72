// The safetensors format: 8-byte little-endian header length, JSON header, data. Own reader and writer.
// Defined in safetensors_read.cpp, safetensors_write.cpp.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "oracle/case/tensor.hpp"

namespace tally {

struct TensorFile {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Throws std::runtime_error naming the place: bad length, bad header, overlapping or out-of-range offsets, unknown
/// dtype, sizes that do not match. Sizes are checked before memory is taken.
TensorFile read_safetensors(std::string_view bytes);
TensorFile read_safetensors_file(const std::filesystem::path& file);
/// What its header says beside the tensors; no tensor is looked at.
std::map<std::string, std::string> safetensors_metadata(const std::filesystem::path& file);
std::string write_safetensors(const TensorFile& file);

}  // namespace tally
