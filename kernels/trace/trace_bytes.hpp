// A trace as the bytes of its file.
#pragma once

#include <string>
#include <string_view>

#include "kernels/trace/trace.hpp"

namespace tally {

/// What write_trace() writes.
std::string bytes_of(const Trace& trace);
/// The trace that the bytes hold, of the case with this hash, as read_trace() reads a file.
Trace trace_of_bytes(std::string_view bytes, const Case& c, const std::string& hash);

}  // namespace tally
