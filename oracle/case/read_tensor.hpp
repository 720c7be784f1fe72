// The tensors of a case: inline, drawn, or in a safetensors file beside the case.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "oracle/case/findings.hpp"
#include "oracle/case/json.hpp"

namespace tally {

/// Where tensors may come from besides their inline data.
struct TensorSources {
  std::filesystem::path folder;  // of a tensor file; empty: a tensor file is a finding
  bool drawings = false;         // tokens alone hold drawings
};

std::map<std::string, Tensor> read_tensors(const Json& json, const std::string& path, const TensorSources& sources,
                                           Findings& findings);

}  // namespace tally
