# Sourced: what it sets, others read.
shown=yes
