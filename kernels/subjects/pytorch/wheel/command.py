#!/usr/bin/env python3
# The command `tally` that a wheel puts on the PATH.
from tally_program import main

main()
