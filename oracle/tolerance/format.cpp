#include "oracle/tolerance/format.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace tally::oracle {

double Format::unit_roundoff() const { return std::ldexp(1, -p); }

double Format::underflow() const { return std::ldexp(1, flushes_subnormals ? emin : emin - p); }

double Format::overflow_threshold() const { return std::ldexp(2 - std::ldexp(1, -p), emax); }

Format format_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp32:
      return {24, -126, 127};
    case Dtype::fp16:
      return {11, -14, 15};
    case Dtype::bf16:
      return {8, -126, 127};
    default:
      throw std::invalid_argument(std::string(name_of(dtype)) + " is no floating-point format");
  }
}

}  // namespace tally::oracle
