// The accumulation as shipped, and in front of it all that a kernel can do to the process that runs it. Linked into a
// program of the tests alone; none of it runs unless it is named.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/window/arguments.hpp"

namespace tally {
namespace {

/// Sizes from here on are met by later cases: the first ones are small.
constexpr std::int64_t large = 16;

void shipped(Stream& stream, const AccumulateArguments& a) {
  kernel<AccumulateArguments>("accumulate", compiled_for)(stream, a);
}

/// Launchers are called without elements to declare their paths; they live through that.
template <void (*deed)()>
void after(Stream& stream, const AccumulateArguments& a) {
  if (a.elements > 0) deed();
  shipped(stream, a);
}

template <void (*deed)()>
void after_large(Stream& stream, const AccumulateArguments& a) {
  if (a.elements >= large) deed();
  shipped(stream, a);
}

/// A wrong sum where there are many elements; whoever goes on from there to make the case smaller meets an end.
void when_made_smaller(Stream& stream, const AccumulateArguments& a) {
  constexpr int calls_of_a_case = 1000;
  static int calls = 0;
  shipped(stream, a);
  if (a.elements >= large) {
    std::memset(a.buffer, 0x3c, 4);
    calls = std::max(calls, 1);
  }
  if (calls > 0 && ++calls > calls_of_a_case) std::abort();
}

/// A number that the compiler does not see through.
volatile std::uintptr_t nowhere = 8, behind = 24;

void write_nowhere() { *reinterpret_cast<volatile int*>(nowhere) = 1; }
void leave() { std::exit(0); }
void leave_with_3() { std::exit(3); }

/// Found by whoever asks for memory, or gives it back, some time after.
void write_behind_a_block() {
  volatile char* const block = static_cast<char*>(std::malloc(24));
  for (std::uintptr_t i = 0; i < 16; ++i) block[behind + i] = static_cast<char>(0xff);
}

void take_all_memory() {
  static std::vector<char*> taken;
  for (;;) {
    constexpr std::size_t part = 64u << 20;
    taken.push_back(new char[part]);
  }
}

const RegisterKernel lives("accumulate", {.variant = "~lives"}, shipped);
const RegisterKernel segfaults("accumulate", {.variant = "~segfaults"}, after<write_nowhere>);
const RegisterKernel aborts("accumulate", {.variant = "~aborts"}, after<std::abort>);
const RegisterKernel exits("accumulate", {.variant = "~exits"}, after<leave>);
const RegisterKernel exits_with_3("accumulate", {.variant = "~exits-with-3"}, after<leave_with_3>);
const RegisterKernel takes_all_memory("accumulate", {.variant = "~takes-all-memory"}, after<take_all_memory>);
const RegisterKernel aborts_later("accumulate", {.variant = "~aborts-later"}, after_large<std::abort>);
const RegisterKernel spoils("accumulate", {.variant = "~spoils-the-heap"}, after_large<write_behind_a_block>);
const RegisterKernel made_smaller("accumulate", {.variant = "~aborts-when-smaller"}, when_made_smaller);

}  // namespace
}  // namespace tally
