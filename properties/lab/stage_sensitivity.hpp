// How small an error of one stage is still found at that stage's own tap: every output of a clean run multiplied by
// 1 + theta, stage by stage, at networks of growing width.
#pragma once

#include "properties/lab/study.hpp"

namespace tally {

/// A row a stage and tensor, a column a width, in fp32: the smallest theta, a power of two, that is found with every
/// seed. With effort 1, three seeds.
StudyTable stage_sensitivity(const StudyOptions& options);

}  // namespace tally
