// Functions of FLINT, Arb and MPFR that are looked up at their first call. A program that computes no enclosure neither
// loads these libraries nor binds their twelve thousand names, which takes longer than judging a small case.
// Defined in function.cpp, arb.cpp, gmp.cpp, mpfr.cpp.
#pragma once

namespace tally::late {

/// The address of a function in the library of balls, or in one that it is built on. Loads it at the first question.
/// Where there is no such library or function the program ends with code 3 and a message that names the package.
void* function(const char* name);

/// Whether the library was loaded.
bool is_loaded();

}  // namespace tally::late
