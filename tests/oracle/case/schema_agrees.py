"""The schema that a program prints accepts the valid case files and refuses the malformed ones: schema_agrees.py PROGRAM.

Files named semantic_* break a rule that JSON Schema cannot state (sums of rows, shapes, exact values, duplicates):
the schema accepts them, or they would not deserve the name.
"""

import json
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: the Python module jsonschema is not installed")
    sys.exit(77)

here = pathlib.Path(__file__).resolve().parent
schema = json.loads(subprocess.run([sys.argv[1], "schema"], check=True, capture_output=True, text=True).stdout)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)


def accepts(path):
    """Whether the file is JSON that keeps the schema."""
    try:
        instance = json.loads(path.read_text())
    except json.JSONDecodeError:
        return False
    return validator.is_valid(instance)


wrong = []
counts = {"valid": 0, "malformed": 0, "semantic": 0}
for path in sorted((here / "valid").glob("*.json")):
    counts["valid"] += 1
    if not accepts(path):
        wrong.append(f"refuses {path.name}")
for path in sorted((here / "malformed").glob("*.json")):
    semantic = path.name.startswith("semantic_")
    counts["semantic" if semantic else "malformed"] += 1
    if accepts(path) != semantic:
        wrong.append(f"{'refuses' if semantic else 'accepts'} {path.name}")

for line in wrong:
    print("the schema", line)
print(counts)
sys.exit(1 if wrong or min(counts.values()) == 0 else 0)
