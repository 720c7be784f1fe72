// The functions of MPFR that the oracle calls, itself or through Boost. One that is missing here loads the library at the
// start, which the test command_line.starts_without_libraries names.
#include <cstdint>

#define MPFR_USE_INTMAX_T
#include <mpfr.h>

#include "oracle/lazy_binding/function.hpp"

extern "C" {

TALLY_LATE_1(mpfr_clear)
TALLY_LATE_1(mpfr_free_str)
TALLY_LATE_1(mpfr_number_p)
TALLY_LATE_1(mpfr_set_nan)
TALLY_LATE_2(mpfr_const_pi)
TALLY_LATE_2(mpfr_get_d)
TALLY_LATE_2(mpfr_get_ld)
TALLY_LATE_2(mpfr_init2)
TALLY_LATE_2(mpfr_set_prec)
TALLY_LATE_2(mpfr_set_zero)
TALLY_LATE_2(mpfr_swap)
TALLY_LATE_3(mpfr_cmp3)
TALLY_LATE_3(mpfr_cmp_si_2exp)
TALLY_LATE_3(mpfr_cos)
TALLY_LATE_3(mpfr_cosh)
TALLY_LATE_3(mpfr_erfc)
TALLY_LATE_3(mpfr_exp)
TALLY_LATE_3(mpfr_log1p)
TALLY_LATE_3(mpfr_neg)
TALLY_LATE_3(mpfr_prec_round)
TALLY_LATE_3(mpfr_set_d)
TALLY_LATE_3(mpfr_set_ld)
TALLY_LATE_3(mpfr_set_si)
TALLY_LATE_3(mpfr_set_ui)
TALLY_LATE_3(mpfr_sin)
TALLY_LATE_3(mpfr_sqr)
TALLY_LATE_3(mpfr_sqrt)
TALLY_LATE_3(mpfr_tanh)
TALLY_LATE_4(mpfr_add)
TALLY_LATE_4(mpfr_add_ui)
TALLY_LATE_4(mpfr_div)
TALLY_LATE_4(mpfr_div_ui)
TALLY_LATE_4(mpfr_mul)
TALLY_LATE_4(mpfr_mul_ui)
TALLY_LATE_4(mpfr_pow_ui)
TALLY_LATE_4(mpfr_set4)
TALLY_LATE_4(mpfr_set_str)
TALLY_LATE_4(mpfr_sub)
TALLY_LATE_4(mpfr_sub_ui)
TALLY_LATE_4(mpfr_ui_div)
TALLY_LATE_4(mpfr_ui_sub)
TALLY_LATE_2(__gmpfr_mpfr_get_sj)

char*(mpfr_get_str)(char* digits, mpfr_exp_t* exponent, int base, size_t count, mpfr_srcptr x, mpfr_rnd_t rounding) {
  TALLY_LATE_OWN(mpfr_get_str)(digits, exponent, base, count, x, rounding);
}

void(mpfr_set_erangeflag)() { TALLY_LATE_OWN(mpfr_set_erangeflag)(); }

/// Boost calls it as every thread ends.
void(mpfr_free_cache)() {
  if (!tally::late::is_loaded()) return;
  TALLY_LATE_OWN(mpfr_free_cache)();
}
}
