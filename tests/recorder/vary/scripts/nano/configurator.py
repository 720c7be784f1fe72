"""Options of the form --key=value overwrite what the script that runs this has under that name."""
import sys
from ast import literal_eval

for word in sys.argv[1:]:
    key, value = word[2:].split("=")
    if key not in globals():
        raise ValueError(f"Unknown config key: {key}")
    try:
        value = literal_eval(value)
    except (SyntaxError, ValueError):
        pass
    assert type(value) is type(globals()[key])
    globals()[key] = value
