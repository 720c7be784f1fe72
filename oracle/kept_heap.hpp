// Memory that one case gave back is there for the next. Tensors of a case come and go by the thousand, and as glibc
// starts, each time the last of them goes the heap shrinks, and the kernel clears the same pages again at the next.
#pragma once

namespace tally {

/// Whether this program's heap stays as large as it was: so from the start on, where the C library is glibc.
bool heap_is_kept();

}  // namespace tally
