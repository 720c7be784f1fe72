// A case's tensor file, `"tensors": {"file": "case.safetensors"}`, which must lie inside the case's folder.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "oracle/case/findings.hpp"
#include "oracle/case/json.hpp"

namespace tally {

/// Reads the file named by the object at `path`; whatever goes wrong is a finding.
std::map<std::string, Tensor> read_tensor_file(const Json& json, const std::string& path,
                                               const std::filesystem::path& folder, Findings& findings);

}  // namespace tally
