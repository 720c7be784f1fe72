// The shipped stages with one of them, or one kernel, replaced.
#pragma once

#include "kernels/training_step/stages.hpp"
#include "properties/faults/fault.hpp"

namespace tally {

/// `replaced<&Stages::factor, factor>` is a function that gives the shipped table with that one stage replaced.
template <auto Member, Stage Function>
const Stages& replaced() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.*Member = Function;
    return copy;
  }();
  return stages;
}

/// The shipped table with the kernel of `operation` replaced by the variant named after the fault, which the fault's
/// .cu registers.
inline Stages with_kernel(const std::string& operation, const std::string& fault) {
  Stages copy = shipped_stages();
  copy.variants[operation] = "~" + fault;
  return copy;
}

/// The shipped table with the products of linear layers replaced.
template <void (*Function)(Run&, const GemmCall&, const GemmOrder&)>
const Stages& with_gemm() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.gemm = Function;
    return copy;
  }();
  return stages;
}

/// Micro-batches in the window the run stands in.
inline int micro_batches(const Run& run) {
  return static_cast<int>(run.c.windows[static_cast<std::size_t>(run.window)].size());
}

}  // namespace tally
