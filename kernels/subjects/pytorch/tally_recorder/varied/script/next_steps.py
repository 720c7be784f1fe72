"""What to do where a script does not deal the rows that were asked for: the end of an error's line."""
from .presets import PRESETS


def words_missing(words):
    """Where steps come after other micro-batches than were said."""
    if words and not any(key in word for word in words for key in ("{k}", "{sizes}")):
        return "{k} is missing in --set: the number of micro-batches of a step, as in '--batch-size {rows} --accum {k}'"
    return "give the script's own words for both in --set"


def fewer_rows(seen, rows):
    if seen.get("fewer") is None:
        return None
    return f"the script's data set has {seen['fewer']} rows and a window of --rows {rows} needs as many; name fewer"


def other_rows(seen, rows):
    """Where the whole batch has other rows than were said."""
    return fewer_rows(seen, rows) or "give the script's own words in --set, or --rows"


def what_next(seen, rows, preset):
    """Where the whole batch at once ended in an error."""
    flags = PRESETS[preset].flags if preset else ""
    if flags and seen["error"]["type"] == "SystemExit":
        return f"its arguments are not those of preset {preset} ({flags}); say them in its own words, --set '--batch-size {{rows}} --accum {{k}}'"
    return fewer_rows(seen, rows) or "run it alone first"
