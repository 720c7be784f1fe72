// Which tensors a case has: names, formats, shapes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

struct ExpectedTensor {
  Dtype dtype;
  std::vector<std::int64_t> shape;
  bool required;  // optimizer state may be absent, all of it
};

/// Rows of all windows.
std::int64_t rows_of(const Case& c);

/// Whether a tensor of this name has a row for each row of the batch: x, tokens, positions, target, item weights, masks.
bool has_rows(const std::string& tensor);

/// Model, windows, precision and optimizer must be sound (see rules.hpp); tensors are not looked at.
std::map<std::string, ExpectedTensor> expected_tensors(const Case& c);

}  // namespace tally
