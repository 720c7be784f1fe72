// The functions of GMP that inline ones of FLINT call. One that is missing here loads the library at the start, which
// the test command_line.starts_without_libraries names.
#include <gmp.h>

#include "oracle/late/forward.hpp"

extern "C" {

TALLY_LATE_2(__gmpz_realloc2)
TALLY_LATE_2(__gmpz_set)
TALLY_LATE_2(__gmpz_set_si)
TALLY_LATE_2(__gmpz_set_ui)
}
