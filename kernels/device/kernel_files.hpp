// Which source file registered a kernel: what somebody opens to look at a change.
#pragma once

#include <string>
#include <string_view>

namespace tally {

/// "kernels/window/norm.cu", for the variant of the operation on any executor; empty where none is registered.
std::string file_of_kernel(std::string_view operation, std::string_view variant);

}  // namespace tally
