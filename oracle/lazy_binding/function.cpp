// The library, loaded at the first question.
#include "oracle/lazy_binding/function.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace tally::late {
namespace {

std::atomic<bool> loaded = false;

/// Numbers free themselves and change places in functions that must not throw: nobody could catch it.
[[noreturn]] void leave(const char* problem) {
  constexpr int environment = 3;  // the program's exit code for it
  std::fflush(nullptr);
  std::fprintf(stderr,
               "error: enclosures cannot be computed: %s; expected the library that Tally was built with "
               "(on Debian: apt-get install libflint-arb-dev)\n",
               problem);
  std::_Exit(environment);
}

/// Its own dependencies come with it, and a search in it goes on to them. It stays until the program ends.
void* library() {
  static void* const opened = [] {
    void* found = dlopen(TALLY_ARB_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (found == nullptr) leave(dlerror());
    loaded = true;
    return found;
  }();
  return opened;
}

}  // namespace

void* function(const char* name) {
  void* const found = dlsym(library(), name);
  if (found == nullptr) leave(dlerror());
  return found;
}

bool is_loaded() { return loaded; }

}  // namespace tally::late
