// The functions of Arb, FLINT and GMP that the oracle calls. One that is missing here loads the libraries at the start,
// which the test command_line.starts_without_libraries names.
#include <arb.h>
#include <arb_hypgeom.h>
#include <gmp.h>

#include "oracle/lazy_binding/function.hpp"

extern "C" {

TALLY_LATE_1(_arf_demote)
TALLY_LATE_1(_fmpz_clear_mpz)
TALLY_LATE_1(_fmpz_promote)
TALLY_LATE_1(arb_clear)
TALLY_LATE_1(arb_contains_zero)
TALLY_LATE_1(arb_is_finite)
TALLY_LATE_1(arb_is_negative)
TALLY_LATE_1(arb_is_nonnegative)
TALLY_LATE_1(arb_is_positive)
TALLY_LATE_1(arf_clear)
TALLY_LATE_1(arf_is_int)
TALLY_LATE_1(flint_free)
TALLY_LATE_1(fmpz_bits)
TALLY_LATE_1(fmpz_get_si)
TALLY_LATE_1(fmpz_get_ui)
TALLY_LATE_1(fmpz_sgn)
TALLY_LATE_1(mag_clear)
TALLY_LATE_1(mag_get_d)
TALLY_LATE_2(_arf_promote)
TALLY_LATE_2(arb_abs)
TALLY_LATE_2(arb_const_pi)
TALLY_LATE_2(arb_ge)
TALLY_LATE_2(arb_gt)
TALLY_LATE_2(arb_le)
TALLY_LATE_2(arb_lt)
TALLY_LATE_2(arb_neg)
TALLY_LATE_2(arb_overlaps)
TALLY_LATE_2(arb_set)
TALLY_LATE_2(arb_set_d)
TALLY_LATE_2(arb_set_si)
TALLY_LATE_2(arb_set_ui)
TALLY_LATE_2(arf_cmp)
TALLY_LATE_2(arf_cmpabs_2exp_si)
TALLY_LATE_2(arf_equal)
TALLY_LATE_2(arf_get_d)
TALLY_LATE_2(arf_get_mag)
TALLY_LATE_2(arf_get_si)
TALLY_LATE_2(arf_set_mpfr)
TALLY_LATE_2(flint_realloc)
TALLY_LATE_2(fmpz_abs)
TALLY_LATE_2(fmpz_cmp_si)
TALLY_LATE_2(fmpz_equal)
TALLY_LATE_2(fmpz_fdiv_ui)
TALLY_LATE_2(fmpz_set)
TALLY_LATE_2(fmpz_setbit)
TALLY_LATE_2(mag_cmp_2exp_si)
TALLY_LATE_2(mag_set_d)
TALLY_LATE_3(arb_cos)
TALLY_LATE_3(arb_cosh)
TALLY_LATE_3(arb_exp)
TALLY_LATE_3(arb_get_abs_lbound_arf)
TALLY_LATE_3(arb_get_abs_ubound_arf)
TALLY_LATE_3(arb_get_interval_mpfr)
TALLY_LATE_3(arb_get_str)
TALLY_LATE_3(arb_hypgeom_erf)
TALLY_LATE_3(arb_hypgeom_erfc)
TALLY_LATE_3(arb_log1p)
TALLY_LATE_3(arb_mul_2exp_si)
TALLY_LATE_3(arb_set_round)
TALLY_LATE_3(arb_set_str)
TALLY_LATE_3(arb_sin)
TALLY_LATE_3(arb_sqrtpos)
TALLY_LATE_3(arb_tanh)
TALLY_LATE_3(arf_get_fmpz)
TALLY_LATE_3(arf_get_fmpz_2exp)
TALLY_LATE_3(arf_get_mpfr)
TALLY_LATE_3(fmpz_add)
TALLY_LATE_3(fmpz_add_ui)
TALLY_LATE_3(fmpz_divexact)
TALLY_LATE_3(fmpz_fdiv_q_2exp)
TALLY_LATE_3(fmpz_fdiv_r_2exp)
TALLY_LATE_3(fmpz_get_ui_array)
TALLY_LATE_3(fmpz_invmod)
TALLY_LATE_3(fmpz_mul_2exp)
TALLY_LATE_3(fmpz_mul_ui)
TALLY_LATE_3(fmpz_sub)
TALLY_LATE_3(fmpz_sub_ui)
TALLY_LATE_3(mag_add)
TALLY_LATE_3(mag_mul_2exp_si)
TALLY_LATE_3(mag_set_ui_2exp_si)
TALLY_LATE_4(arb_add)
TALLY_LATE_4(arb_div)
TALLY_LATE_4(arb_max)
TALLY_LATE_4(arb_min)
TALLY_LATE_4(arb_mul)
TALLY_LATE_4(arb_pow_ui)
TALLY_LATE_4(arb_sub)
TALLY_LATE_4(arf_set_mpn)

__mpz_struct*(_fmpz_new_mpz)() { TALLY_LATE_OWN(_fmpz_new_mpz)(); }

void(arb_dot)(arb_t sum, const arb_t initial, int subtract, arb_srcptr x, slong xstep, arb_srcptr y, slong ystep,
              slong length, slong precision) {
  TALLY_LATE_OWN(arb_dot)(sum, initial, subtract, x, xstep, y, ystep, length, precision);
}
}

// The functions of GMP that inline ones of FLINT call. One that is missing here loads the library at the start, which
// the test command_line.starts_without_libraries names.

extern "C" {

TALLY_LATE_2(__gmpz_realloc2)
TALLY_LATE_2(__gmpz_set)
TALLY_LATE_2(__gmpz_set_si)
TALLY_LATE_2(__gmpz_set_ui)
}
