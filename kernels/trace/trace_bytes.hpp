// A trace as the bytes of its file.
#pragma once

#include <string>

#include "kernels/trace/trace.hpp"

namespace tally {

/// What write_trace() writes.
std::string bytes_of(const Trace& trace);

}  // namespace tally
