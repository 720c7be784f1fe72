// What the options of an attention layer say, for its mathematics and its kernels.
#pragma once

#include <cstdint>

#include "oracle/case/case.hpp"

namespace tally {

/// Heads of k and v: `kv_heads`, and `heads` where that is 0.
std::int64_t key_heads_of(const Choice& attention);

/// Whether a mask drops some of its weights: `p` is not 0.
bool drops_weights(const Choice& attention);

}  // namespace tally
