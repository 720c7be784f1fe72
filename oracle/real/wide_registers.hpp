// A function marked so is compiled several times, and the widest registers that the processor has do the same
// operations: the same bits.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define TALLY_WIDE_REGISTERS __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define TALLY_WIDE_REGISTERS
#endif
