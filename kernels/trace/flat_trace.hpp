// A trace as flat bytes, between two processes of one program: nothing of it is text, so that it costs little more than
// its tensors. No file format: it never outlives a run.
#pragma once

#include <string>
#include <string_view>

#include "kernels/trace/trace.hpp"

namespace tally {

/// Taps, claims and groups.
std::string flat_bytes_of(const Trace& trace);
/// Throws std::runtime_error for bytes that are none, and for taps that the case does not have, as read_trace() does.
Trace trace_of_flat_bytes(std::string_view bytes, const Case& c, const std::string& hash);

}  // namespace tally
