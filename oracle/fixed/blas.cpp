#include "oracle/fixed/blas.hpp"

#include <dlfcn.h>

#include <optional>

namespace tally::oracle::fixed {
namespace {

std::optional<Blas> loaded() {
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  Blas found{};
  found.multiply = reinterpret_cast<decltype(found.multiply)>(dlsym(library, "cblas_dgemm"));
  found.set_threads = reinterpret_cast<decltype(found.set_threads)>(dlsym(library, "openblas_set_num_threads"));
  if (found.multiply == nullptr || found.set_threads == nullptr) return std::nullopt;
  return found;
}

}  // namespace

const Blas* blas() {
  static const std::optional<Blas> found = loaded();
  return found ? &*found : nullptr;
}

}  // namespace tally::oracle::fixed
