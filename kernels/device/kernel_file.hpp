// Which source file a kernel stands in, for people who look for it.
#pragma once

#include <string>
#include <string_view>

#include "kernels/device/launch.hpp"

namespace tally {

/// "kernels/layer_norm/forward.cu", from the project's folder on; empty where no such kernel is registered.
std::string kernel_file(std::string_view operation, ExecutorKind executor, std::string_view variant);

}  // namespace tally
