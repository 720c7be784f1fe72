#!/bin/sh
# Compiler launcher of the checked side: with_clang.sh CLANG LAUNCHER|- COMPILER ARGUMENT... runs CLANG with those
# arguments in place of COMPILER, the project's own, through LAUNCHER.
clang=$1
launcher=$2
shift 3
[ "$launcher" = - ] && exec "$clang" "$@"
exec "$launcher" "$clang" "$@"
