// Registration of exact mathematics; included by the `<kind>_exact.cpp` sources alone, as it pulls in Boost.
#pragma once

#include <source_location>
#include <string_view>

#include "oracle/layers/exact.hpp"
#include "oracle/real/real.hpp"

namespace tally::oracle {

struct RegisterExactLayer {
  RegisterExactLayer(std::string_view kind, ExactLayer<Real> real, ExactLayer<long double> wide,
                     std::source_location at = std::source_location::current());
};

struct RegisterExactLoss {
  RegisterExactLoss(std::string_view kind, ExactLoss<Real> real, ExactLoss<long double> wide,
                    std::source_location at = std::source_location::current());
};

}  // namespace tally::oracle
