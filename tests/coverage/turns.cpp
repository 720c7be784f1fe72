// Linked into the program: lays the loops' counts in the file TALLY_TURNS, and has each process write how often branches
// were taken, also one that leaves by _exit (the linker's --wrap=_exit).
#include "tests/coverage/turns.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

extern "C" int __llvm_profile_write_file();
extern "C" [[noreturn]] void __real__exit(int status);

extern "C" [[noreturn]] void __wrap__exit(int status) {
  __llvm_profile_write_file();
  __real__exit(status);
}

namespace tally_turns {

alignas(4096) Loop counted[loops];

namespace {

[[gnu::constructor(101)]] void share() {
  const char* const path = std::getenv("TALLY_TURNS");
  if (!path) return;
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0 || ftruncate(file, sizeof counted) != 0 ||
      mmap(counted, sizeof counted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
    __real__exit(3);
  close(file);
}

}  // namespace
}  // namespace tally_turns
