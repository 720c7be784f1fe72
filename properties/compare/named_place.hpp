// Where an element stands, in the words of its layer: "query 3 of sequence 1, head 2, feature 0".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/trace/tap_name.hpp"
#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// The place of an element in its sequence, which is counted in the micro-batch, and its head in attention: in a tensor
/// that has a row for every row of its micro-batch, where the case has sequences. The stage of a pipeline that left the
/// tap stands in front of it. Else empty.
std::string named_place(const Case& c, const TapName& tap, const std::vector<std::int64_t>& index);
/// Says it in every check that fails; of ranks of each one's own part.
void name_places(const Case& c, std::vector<TensorCheck>& checks);

}  // namespace tally
