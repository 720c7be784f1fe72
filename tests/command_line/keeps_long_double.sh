#!/usr/bin/env bash
# No C++ of a program may use MMX registers, as GCC 13 does to build vectors: they are those of the x87 unit, and
# long double computes NaN once they have been used. usage: keeps_long_double.sh OBJDUMP PROGRAM
set -euo pipefail
"$1" -d -C --no-show-raw-insn "$2" | awk '
  /^[0-9a-f]+ <.*>:$/ { name = $0; ours = name ~ /::|\(/; functions += ours }  # tables in C libraries look like anything
  ours && /%mm[0-7]/ { print name; print; ++found }
  END {
    printf "%d functions, %d instructions with MMX registers\n", functions, found
    exit functions == 0 || found > 0
  }'
