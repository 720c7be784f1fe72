#include "oracle/tolerance/format.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

#include "oracle/case/formats.hpp"

namespace tally::oracle {

double Format::unit_roundoff() const { return std::ldexp(1, -p); }

double Format::underflow() const { return std::ldexp(1, flushes_subnormals ? emin : emin - p); }

double Format::overflow_threshold() const { return std::ldexp(2 - std::ldexp(1, -p), emax); }

Format format_of(Dtype dtype) {
  const FormatRow& row = format_row(dtype);
  if (!row.is_float()) throw std::invalid_argument(std::string(row.name) + " is no floating-point format");
  return {row.p, row.emin, row.emax};
}

}  // namespace tally::oracle
