// The safetensors format, and a case's file of it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "oracle/case/file/findings.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {

// The safetensors format: 8-byte little-endian header length, JSON header, data. Own reader and writer.

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

// A case's tensor file, `"tensors": {"file": "case.safetensors"}`, which must lie inside the case's folder.

/// Reads the file named by the object at `path`; whatever goes wrong is a finding.
std::map<std::string, Tensor> read_tensor_file(const Json& json, const std::string& path,
                                               const std::filesystem::path& folder, Findings& findings);

}  // namespace tally
