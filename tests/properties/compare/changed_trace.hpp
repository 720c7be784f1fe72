// A trace with one thing wrong.
#pragma once

#include <string>
#include <utility>

#include "kernels/trace/trace.hpp"

namespace tally {

/// The trace with one tap changed, or left out where `change` returns false.
template <class F>
Trace changed(const Trace& trace, const std::string& name, F&& change) {
  Trace copy;
  copy.claims = trace.claims;
  copy.case_hash = trace.case_hash;
  for (const Tap& tap : trace.taps()) {
    Tensor value = tap.value;
    if (tap.name.text() == name && !change(value)) continue;
    copy.add(tap.name, std::move(value));
  }
  return copy;
}

}  // namespace tally
