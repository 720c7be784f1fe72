// A case as JSON in its two forms: a file, and the text inside a token, where drawn tensors travel as their drawing.
#pragma once

#include <string>
#include <string_view>

#include "oracle/case/io.hpp"
#include "oracle/case/read_tensor.hpp"

namespace tally {

/// Reads and validates. Throws InvalidCase.
Case unpack_case(std::string_view text, const TensorSources& sources);

Json json_of(const Case& c, bool drawings);

}  // namespace tally
