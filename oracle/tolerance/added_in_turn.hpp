// Tensors of one shape added one after another, each sum stored: (add.1) and (add.3).
#pragma once

#include <string_view>
#include <vector>

#include "oracle/tolerance/as_written.hpp"

namespace tally::oracle {

/// ((a_0 + a_1) + a_2) + …, every sum computed in fp32 and stored in the storage format, where the operation claims to
/// be as written; else the same sum in any order, stored after every addition or only at the end. At least one addend.
Expected added_in_turn(const Declared& declared, std::string_view operation,
                       const std::vector<const Expected*>& addends);

/// Its bits, where the operation claims them.
Prediction predicted_in_turn(const Declared& declared, std::string_view operation,
                             const std::vector<Matrix<float>>& addends);

}  // namespace tally::oracle
