// Lazy binding: functions of FLINT, Arb, GMP and MPFR are looked up at their first call, by definitions that are
// written with macros. Defined in function.cpp, arb.cpp, mpfr.cpp.
#pragma once

#include <tuple>

namespace tally::late {

// Functions of FLINT, Arb and MPFR that are looked up at their first call. A program that computes no enclosure neither
// loads these libraries nor binds their twelve thousand names, which takes longer than judging a small case.

/// The address of a function in the library of balls, or in one that it is built on. Loads it at the first question.
/// Where there is no such library or function the program ends with code 3 and a message that names the package.
void* function(const char* name);

/// Whether the library was loaded.
bool is_loaded();

// Definitions of functions of a C library that a header declares: each looks the library's own up at its first call and
// hands its arguments on. Written for the files beside this one alone.

template <class F>
struct Signature;
template <class R, class... A>
struct Signature<R(A...)> {
  using Result = R;
  template <int i>
  using Argument = std::tuple_element_t<i, std::tuple<A...>>;
};

}  // namespace tally::late

#define TALLY_LATE_RESULT(name) tally::late::Signature<decltype(name)>::Result
#define TALLY_LATE_ARGUMENT(name, i) tally::late::Signature<decltype(name)>::Argument<i>
#define TALLY_LATE_OWN(name)                                                                               \
  static const auto own = reinterpret_cast<decltype(name)*>(tally::late::function(TALLY_LATE_TEXT(name))); \
  return own
#define TALLY_LATE_TEXT(name) #name

// By the number of arguments. The parentheses around a name keep a macro of that name from being expanded.
#define TALLY_LATE_1(name) \
  TALLY_LATE_RESULT(name)(name)(TALLY_LATE_ARGUMENT(name, 0) a) { TALLY_LATE_OWN(name)(a); }
#define TALLY_LATE_2(name)                                                                        \
  TALLY_LATE_RESULT(name)(name)(TALLY_LATE_ARGUMENT(name, 0) a, TALLY_LATE_ARGUMENT(name, 1) b) { \
    TALLY_LATE_OWN(name)(a, b);                                                                   \
  }
#define TALLY_LATE_3(name)                                                                                 \
  TALLY_LATE_RESULT(name)                                                                                  \
  (name)(TALLY_LATE_ARGUMENT(name, 0) a, TALLY_LATE_ARGUMENT(name, 1) b, TALLY_LATE_ARGUMENT(name, 2) c) { \
    TALLY_LATE_OWN(name)(a, b, c);                                                                         \
  }
#define TALLY_LATE_4(name)                                                                               \
  TALLY_LATE_RESULT(name)                                                                                \
  (name)(TALLY_LATE_ARGUMENT(name, 0) a, TALLY_LATE_ARGUMENT(name, 1) b, TALLY_LATE_ARGUMENT(name, 2) c, \
         TALLY_LATE_ARGUMENT(name, 3) d) {                                                               \
    TALLY_LATE_OWN(name)(a, b, c, d);                                                                    \
  }
