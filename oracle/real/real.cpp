#include "oracle/real/real.hpp"

namespace tally::oracle {

void set_digits(unsigned digits) { Real::default_precision(digits); }

unsigned digits() { return Real::default_precision(); }

}  // namespace tally::oracle
