"""One thing in an input made hostile: a value of a JSON document, or a few bytes of a text."""
import copy
import json

NUMBERS = ["-1", "0", "-0", "0.5", "1e309", "-1e309", "1e-400", "9223372036854775807", "9223372036854775808",
           "-9223372036854775809", "18446744073709551616", "1" * 400, "0." + "1" * 5000, "1e99999999999", "NaN",
           "Infinity", "0x10", "01", "1.", ".5", "+1", "--1", "1e", "340282346638528859811704183484516925440"]
TEXTS = ["", "\u001b[2J\u001b]0;owned\u0007", "a\u0000b", "\u202eevil", "../../../etc/passwd", "/dev/zero", "\u009b31m",
         "x" * 100000, "%s%n%x", "<script>", "nan", "-inf", "0x1p+99999", "0x1.fffffffffffffffp+0", "~planted", "a/b",
         "'; rm -rf ~", "\ud83d\ude00", "tly1:", "relu", "fp8"]
FORMS = ["null", "true", "[]", "{}", "[[]]", "[" * 100 + "]" * 100, '{"a":' * 100 + "1" + "}" * 100, '{"a":1,"a":2}',
         "[" + "1," * 5000 + "1]"]


class Raw:
    """A value that stands in a document as this text, JSON or not."""

    def __init__(self, text):
        self.text = text


def value(random):
    kind = random.random()
    if kind < 0.45:
        return Raw(random.choice(NUMBERS))
    if kind < 0.75:
        return random.choice(TEXTS)
    return Raw(random.choice(FORMS))


def text_of(document):
    """The document as text, with each Raw as it is."""
    raws = []

    def marked(raw):
        raws.append(raw.text)
        return f"\uffff{len(raws) - 1}\uffff"

    text = json.dumps(document, default=marked)
    for number, raw in enumerate(raws):
        text = text.replace(json.dumps(f"\uffff{number}\uffff"), raw)
    return text


def places(document, most=4000):
    """Every (container, key) of the document, the outer ones first."""
    found, open_ = [], [document]
    for container in open_:
        keys = container.keys() if isinstance(container, dict) else range(len(container))
        for key in keys:
            found.append((container, key))
            if isinstance(container[key], (dict, list)):
                open_.append(container[key])
        if len(found) > most:
            break
    return found


def place_in(document, random):
    """The outer places are drawn as often as the many elements of tensors."""
    found = places(document)
    return random.choice(found[:max(1, len(found) // random.choice([1, 3, 10, 30]))])


def altered(document, random):
    """A copy with one place replaced, taken away, doubled, or beside a key that nobody knows."""
    document = copy.deepcopy(document)
    container, key = place_in(document, random)
    kind = random.random()
    if kind < 0.6:
        container[key] = value(random)
    elif kind < 0.75:
        del container[key]
    elif kind < 0.85 and isinstance(container, list):
        container.insert(key, copy.deepcopy(container[key]))
    elif isinstance(container, dict):
        container[random.choice(TEXTS)[:200]] = value(random)
    else:
        container.append(value(random))
    return document


def damaged(data, random):
    """A few bytes cut, changed, doubled or put in."""
    data = bytearray(data)
    for _ in range(random.choice([1, 1, 1, 2, 5])):
        at = random.randrange(len(data) + 1)
        kind = random.randrange(8)
        if kind == 0:
            del data[at:]
        elif kind == 1:
            del data[at:at + random.choice([1, 2, 10, 200])]
        elif kind == 2:
            data[at:at] = bytes(random.randrange(256) for _ in range(random.choice([1, 4, 40])))
        elif kind == 3:
            data[at:at] = data[at:at + random.choice([1, 20, 300])]
        elif kind == 4:
            data[at:at + 1] = random.choice([b"\0", b"\xff", b"\x1b[31m", b"\n\n", b'"', b"{", b"]", b"\xc3", b"\xef\xbb\xbf"])
        elif kind == 5:
            data += random.choice([b"\0garbage", b"garbage", b"{}", b" " * 100000, b"\0" * 100])
        elif kind == 6 and data:
            data[at % len(data)] ^= 1 << random.randrange(8)
        else:
            data[at:at + 1] = random.choice(NUMBERS).encode()
    return bytes(data)
