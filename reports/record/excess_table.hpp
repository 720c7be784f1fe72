// The table of `bench excess` from which reports tell how unusual it is that a kernel uses as much of its bound.
#pragma once

namespace tally {

/// A row an operation and the formats that it stores (OperationStanding::format): the quantiles of TensorCheck::excess
/// over the tensors of clean cases.
inline constexpr const char* excess_table = "Share of the bound used beyond the last rounding, by operation";

}  // namespace tally
