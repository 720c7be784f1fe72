// What a kernel's access to memory must obey: inside a buffer or the block's shared memory, shared memory written
// before it is read, and no two threads on the same bytes, one of them writing, with nothing that orders them.
//
// Checked kernels are compiled with the hooks of clang's thread sanitizer, which access.cpp defines: no sanitizer is
// linked. A hook comes before the access, and may let other threads run first.
#pragma once

namespace tally::checker {

enum class Access { read, write, atomic };

}  // namespace tally::checker
