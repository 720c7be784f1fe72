#include "oracle/tolerance/format.hpp"

#include <stdexcept>
#include <string>

#include "oracle/case/formats.hpp"

namespace tally::oracle {

double Format::unit_roundoff() const { return FormatRow::power_of_two(-p); }

double Format::underflow() const { return FormatRow::power_of_two(flushes_subnormals ? emin : emin - p); }

double Format::overflow_threshold() const { return (2 - FormatRow::power_of_two(-p)) * FormatRow::power_of_two(emax); }

Format format_of(Dtype dtype) {
  const FormatRow& row = format_row(dtype);
  if (!row.is_float()) throw std::invalid_argument(std::string(row.name) + " is no floating-point format");
  return {row.p, row.emin, row.emax};
}

}  // namespace tally::oracle
