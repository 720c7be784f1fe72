// How many rows a trained model classifies right.
#pragma once

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"

namespace tally {

/// Share of all rows of x whose largest output is the target, with the parameters and running statistics the trace ends
/// with, evaluated in long double (BatchNorm with its running statistics).
double accuracy(const Case& c, const Trace& trace);

}  // namespace tally
