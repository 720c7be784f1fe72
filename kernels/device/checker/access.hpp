// What a kernel's access to memory must obey: inside a buffer or the block's shared memory, shared memory written
// before it is read, and no two threads on the same bytes, one of them writing, with nothing that orders them.
#pragma once

#include <cstdint>

namespace tally::checker {

enum class Access { read, write, atomic };

/// Before the access; may let other threads run first. Ends the launch with an ExecutorFinding that names the rule
/// broken. `code` is an address in the program just behind the access.
void check(Access access, const void* address, std::size_t bytes, const void* code);

}  // namespace tally::checker
