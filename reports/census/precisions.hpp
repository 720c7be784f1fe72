// The storage formats as results name them.
#pragma once

#include <array>

namespace tally {

/// Those of oracle/case/formats.hpp, in its order; a test holds the two together, as reports include nothing of there.
inline constexpr std::array storage_precisions{"fp32", "fp16", "bf16"};

}  // namespace tally
