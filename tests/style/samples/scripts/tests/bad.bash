# Sourced: what it sets, others read.
shown=yes
set_up() { local folder=$(mktemp -d); echo "$folder"; }
