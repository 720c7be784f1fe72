// What Tally asks of an MPI: a table of functions that a module of its own gives, one for each MPI, as their binary
// interfaces differ. The program itself links none and opens a module at first use.
#pragma once

#include <cstddef>

extern "C" {

/// No function throws; 0 is success where a number is returned.
struct tally_mpi {
  int rank, size;  // of the world
  const char* library;
  /// Hands a copy of the bytes over and returns.
  int (*send)(int to, const void* bytes, std::size_t count);
  /// 1 and the size of the next message of `from` where one has come, 0 where none has, below 0 for an error. Below 0 at
  /// `from`: of whoever comes next, which is then written there.
  int (*next)(int* from, std::size_t* count);
  /// The message that next() told of.
  int (*take)(void* into, std::size_t count);
  /// Begins to add up copies of the values of these ranks of the world, in rising order, each of which calls this. One
  /// sum at a time.
  int (*sum)(const float* values, std::size_t count, const int* ranks, std::size_t number);
  /// 1 where that has ended, and the sums are in `values`; 0 where it has not, below 0 for an error.
  int (*summed)(float* values);
  /// Ends every rank.
  void (*abort)(int code);
  /// Waits until what was sent has gone, and for all ranks.
  void (*finish)();
};

/// Initialises MPI. nullptr where it fails.
const tally_mpi* tally_mpi_open();
}
