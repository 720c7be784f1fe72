// The stack of one rank in this process.
#pragma once

#include <cstddef>

#include "kernels/device/executor/context.hpp"

namespace tally {

/// Memory is taken page by page as the stack grows; below it lies a page that cannot be touched.
class FibreStack {
 public:
  explicit FibreStack(void (*entry)());
  ~FibreStack();
  FibreStack(const FibreStack&) = delete;
  FibreStack& operator=(const FibreStack&) = delete;

  executor::Context context;

 private:
  std::byte* mapping_;
};

}  // namespace tally
