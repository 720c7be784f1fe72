#include "oracle/late/function.hpp"

#include <dlfcn.h>

#include <atomic>
#include <stdexcept>
#include <string>

namespace tally::late {
namespace {

std::atomic<bool> loaded = false;

/// Its own dependencies come with it, and a search in it goes on to them. It stays until the program ends.
void* library() {
  static void* const opened = [] {
    void* found = dlopen(TALLY_ARB_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (found == nullptr) throw std::runtime_error(std::string("the library of balls cannot be loaded: ") + dlerror());
    loaded = true;
    return found;
  }();
  return opened;
}

}  // namespace

void* function(const char* name) {
  void* const found = dlsym(library(), name);
  if (found == nullptr) throw std::runtime_error(std::string(TALLY_ARB_LIBRARY) + " has no function " + name);
  return found;
}

bool is_loaded() { return loaded; }

}  // namespace tally::late
