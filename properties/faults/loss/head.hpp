// The head and loss in chunks with another loss: a kernel of its own that leaves what lies between the shipped one and
// that.
#pragma once

#include "kernels/device/detmath.hpp"
#include "kernels/losses/head_loss_chunks.hpp"
#include "properties/faults/planted_between.hpp"

namespace tally {
inline namespace TALLY_SIDE {

template <auto loss_of>
void planted_head(Stream& stream, const HeadLossArguments& a) {
  const std::int64_t rows = a.loss.rows, classes = a.loss.classes;
  std::vector<Written> written{{a.loss.loss, Dtype::fp32, rows}};
  for (const Written& each : {Written{a.dx, a.storage, rows * a.width}, Written{a.dw, a.storage, classes * a.width},
                              Written{a.db, a.storage, classes}})
    if (each.address != nullptr) written.push_back(each);
  between_kernels<HeadLossArguments>(stream, a, written, "head_loss", "chunked", head_and_loss_in_chunks<loss_of>);
}

inline KernelClaim planted_head_claim(const std::string& fault) {
  return {.variant = "~" + fault, .algorithm = "three_pass", .function_ulp = detmath_ulp};
}

}  // namespace TALLY_SIDE
}  // namespace tally
