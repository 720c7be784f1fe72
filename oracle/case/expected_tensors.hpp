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

/// Model, windows, precision and optimizer must be sound (see rules.hpp); tensors are not looked at.
std::map<std::string, ExpectedTensor> expected_tensors(const Case& c);

}  // namespace tally
