# The one place that decides what floating-point code may do: no contraction, no reassociation, nothing flushed.
add_library(tally_fp INTERFACE)
add_library(tally::fp ALIAS tally_fp)
target_compile_options(tally_fp INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off;-fno-fast-math;-fno-associative-math>
  $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false;--prec-div=true;--prec-sqrt=true;--ftz=false;-Xcompiler=-ffp-contract=off>)
