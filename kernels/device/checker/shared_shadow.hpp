// The shadow of the block's shared memory.
#pragma once

#include <string>

#include "kernels/device/checker/cell.hpp"

namespace tally::checker {

/// The shadow of this operating-system thread's arena; empty until its first checked block.
inline constinit thread_local Shadowed shared_shadow{};

/// A new block: what was declared is forgotten.
void begin_shared_shadow();
void note_shared(std::size_t begin, std::size_t bytes, const char* name);

/// Bytes of the arena that were declared in this block.
std::size_t shared_bytes_used();

/// "shared 'NAME'+BYTES".
std::string describe_shared(std::uintptr_t address);

}  // namespace tally::checker
