// Which taps name the stage of a pipeline that left them. A layer and its parameters are on one stage, so that what is
// named after them needs no tag.
// Defined in pipe_tag.cpp.
#pragma once

#include <string_view>

#include "kernels/trace/tap_name.hpp"
#include "oracle/case/case.hpp"

namespace tally {

/// Each stage's own: what it hands over and takes, what it found, and its part of a norm.
inline bool is_of_own_stage(std::string_view stage, std::string_view tensor) {
  if (stage == "send" || stage == "receive") return true;
  return (stage == "agree" && tensor == "in.found") || (stage == "overflow_check" && tensor == "found") ||
         (stage == "norm" && tensor == "part");
}

/// A number of the window that every stage has, and all of them alike: "coefficient" of "clip".
inline bool is_of_every_stage(std::string_view stage, std::string_view tensor, int micro_batch) {
  if (is_of_own_stage(stage, tensor) || micro_batch >= 0 || stage == "count") return false;
  if (tensor.starts_with("in.")) tensor.remove_prefix(3);
  for (const std::string_view own : {"weight", "bias", "running_mean", "running_var"})
    if (tensor == own) return false;  // of a layer that is named "in"
  return tensor.find('.') == std::string_view::npos;
}

/// What a tap of stage `pipe` has in its name: what is each one's own bears its number, and so does what every stage
/// has, but of the first, whose tap is named as where one process has the whole model. Else -1.
inline int pipe_in_name(std::string_view stage, std::string_view tensor, int micro_batch, int pipe) {
  if (is_of_own_stage(stage, tensor)) return pipe;
  return pipe > 0 && is_of_every_stage(stage, tensor, micro_batch) ? pipe : -1;
}

/// The part of a pipelined model that a tap is of: by the layer that its tensor names, of the loss the last; -1 where it
/// names none.
int part_of_tap(const Case& c, const TapName& name);
/// The stage that left a tap; 0 of what every stage has alike.
int stage_of_tap(const Case& c, const TapName& name);

}  // namespace tally
