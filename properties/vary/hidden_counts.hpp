// What counts in a micro-batch's loss where nobody saw it, such as live rows: the weights say which share of the window's it is.
#pragma once

#include "properties/vary/weight_cause.hpp"

namespace tally {

/// Shares of counts that nobody saw; none where they are of no whole numbers. What a micro-batch alone should weigh is
/// its share. Gradients as the loop left them tell it by what they weigh, were that `factors` over the share.
std::vector<double> hidden_shares(const WeighedPartition& partition, const std::vector<double>& factors,
                                  double sharpness);

/// Whether a micro-batch's gradient alone is scaled by what is no count.
bool has_a_scale_of_its_own(const WeighedPartition& partition, double sharpness);

}  // namespace tally
