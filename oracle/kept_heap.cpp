#include "oracle/kept_heap.hpp"

#include <cstdlib>  // says whether the library is glibc

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace tally {
namespace {

#ifdef __GLIBC__
constexpr int kept = 64 << 20;    // bytes behind the last block in use
constexpr int step = 16 << 20;    // by which the heap grows: address space, until it is written
constexpr int outside = 4 << 20;  // from here on a block stands outside the heap; glibc takes no more

bool keep() {
  return mallopt(M_TRIM_THRESHOLD, kept) == 1 && mallopt(M_TOP_PAD, step) == 1 &&
         mallopt(M_MMAP_THRESHOLD, outside) == 1;
}
#else
bool keep() { return false; }
#endif

const bool is_kept = keep();

}  // namespace

bool heap_is_kept() { return is_kept; }

}  // namespace tally
