"""The structure of every sample's report.html and of the sample studies: page_test.py FOLDER. Each rule must also find a page that breaks it."""
import base64
import hashlib
import pathlib
import re
import sys

from lxml import etree

BUDGET, NODES = 1_500_000, 60_000


def ids(tree):
    return [element.get("id") for element in tree.iter() if element.get("id")]


def one_of_a_kind(tree):
    names = ids(tree)
    yield from (f"id {name} stands twice" for name in {n for n in names if names.count(n) > 1})
    if len(tree.findall(".//h1")) != 1:
        yield "not exactly one h1"
    if len(tree.findall(".//main")) != 1:
        yield "not exactly one main"


def links(tree):
    known = set(ids(tree))
    for a in tree.iter("a"):
        target = a.get("href") or ""
        if not target.startswith("#") or target[1:] not in known:
            yield f"link to {target} leads nowhere"
    for element in tree.iter():
        for name in (element.get("aria-labelledby") or "").split():
            if name not in known:
                yield f"aria-labelledby names {name}, which is not there"


def tables(tree):
    for table in tree.iter("table"):
        if table.find("caption") is None or not "".join(table.find("caption").itertext()).strip():
            yield "a table has no caption"
        heads = table.findall("thead/tr/th")
        if not heads:
            yield "a table has no head"
        yield from ("a header has no scope" for th in table.iter("th") if th.get("scope") not in ("row", "col"))
        for row in table.findall("tbody/tr"):
            if len(row) != len(heads):
                yield f"a row has {len(row)} cells under {len(heads)} heads"
        region = table.getparent()
        if region.get("role") != "group" or region.get("tabindex") != "0" or not region.get("aria-label"):
            yield "a table stands outside a scroll region"


def drawings(tree):
    for svg in tree.iter("svg"):
        title, desc = svg.find("title"), svg.find("desc")
        if svg.get("role") != "img" or title is None or desc is None or not title.text or not desc.text:
            yield "a drawing lacks role, title or description"
        elif svg.get("aria-labelledby") != f"{title.get('id')} {desc.get('id')}":
            yield "a drawing is not labelled by its title and description"
        for mark in svg.iter("line", "path", "polyline", "circle"):
            if not mark.get("stroke"):
                yield "a mark vanishes without the style sheet"


def figures(tree):
    """What a drawing shows can be read, too: in a table of the figure, or in the one before it."""
    for figure in tree.iter("figure"):
        before = figure.getprevious()
        if figure.find(".//svg") is None:
            yield "a figure without a drawing"
        if figure.find(".//table") is None and (before is None or before.find("table") is None):
            yield "a figure without a table"


def nothing_foreign(tree):
    for element in tree.iter():
        if element.tag == "script" and (element.attrib or element.getnext() is not None):
            yield "a script that is not the page's own at its end"
        if element.tag in ("iframe", "object", "embed", "base", "form", "img"):
            yield f"<{element.tag}> in the page"
        for key, value in element.attrib.items():
            if key == "style" or key.startswith("on"):
                yield f"attribute {key}"
            if key in ("src", "href") and not value.startswith(("#", "data:,")):
                yield f"{key} leads out of the page: {value}"


def policy(tree):
    head = tree.find("head")
    meta = head.findall("meta")
    style = hashlib.sha256(head.find("style").text.encode()).digest()
    expected = f"style-src 'sha256-{base64.b64encode(style).decode()}'"
    content = meta[1].get("content") if meta[1].get("http-equiv") == "Content-Security-Policy" else ""
    if not content.startswith("default-src 'none';") or expected not in content:
        yield "the policy does not name the style sheet"
    for script in tree.iter("script"):
        digest = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
        if f"script-src 'sha256-{digest}'" not in content:
            yield "the policy does not name the script"
    if "unsafe" in content or "*" in content:
        yield "the policy is open"


def headings(tree):
    last = 1
    for element in tree.iter("h1", "h2", "h3", "h4"):
        level = int(element.tag[1])
        if level > last + 1:
            yield f"{element.tag} follows h{last}"
        last = level
    if tree.get("lang") != "en":
        yield "no language"
    first = tree.find("body/a")
    if first is None or first.get("href") != "#main":
        yield "the skip link is not first"


RULES = (one_of_a_kind, links, tables, drawings, figures, nothing_foreign, policy, headings)

# What to change in a good page, and the rule that must notice.
PLANTED = (
    (one_of_a_kind, '<h2 id="worst">', '<h2 id="laws">'),
    (one_of_a_kind, "</h1>", "</h1><h1>x</h1>"),
    (links, 'href="#worst"', 'href="#wurst"'),
    (tables, "<caption>", "<caption></caption><b>"),
    (tables, 'scope="row"', 'data-scope="row"'),
    (tables, 'tabindex="0" role="group" aria-label="What the kernel', 'role="group" aria-label="What the kernel'),
    (drawings, "<desc", "<desk"),
    (drawings, ' stroke="#0b57d0"', ""),
    (figures, "<svg", "<swg"),
    (figures, "<table>", "<tablet>"),
    (nothing_foreign, "<h1>", '<h1 style="x">'),
    (nothing_foreign, "</h1>", "</h1><script>x</script>"),
    (nothing_foreign, "<h1>", '<h1 onclick="x">'),
    (nothing_foreign, "</h1>", '</h1><img src="http://example.org/x"/>'),
    (policy, "color-scheme:light", "color-scheme:lite"),
    (policy, "document.createElement", "document.createElemend"),
    (policy, "default-src &#39;none&#39;", "default-src *"),
    (headings, "<h2", "<h4"),
    (headings, '<html lang="en"', "<html"),
)


def parse(text):
    """Strict: our pages are well-formed XML too, so a tag left open cannot hide."""
    return etree.fromstring(text.encode(), etree.XMLParser(resolve_entities=False, huge_tree=True))


def planted(text):
    for rule, old, new in PLANTED:
        assert old in text, old
        changed = text.replace(old, new, 1)
        if old == "<caption>":
            changed = changed.replace("</caption><thead>", "</b><thead>", 1)
        if old in ("<svg", "<table>"):
            name = old.strip("<>")
            changed = text.replace("<" + name, new.rstrip(">")).replace(f"</{name}>", f"</{new.strip('<>')}>")
        if old == "<desc":
            changed = changed.replace("</desc>", "</desk>", 1)
        if old == "<h2":
            changed = changed.replace("</h2>", "</h4>", 1)
        if not list(rule(parse(changed))):
            yield f"{rule.__name__} does not notice {old!r} -> {new!r}"


def main(folder):
    pages = sorted(pathlib.Path(folder).glob("*/report.html"))
    studies = sorted(pathlib.Path(folder).glob("studies/*.html"))
    found = [] if len(pages) >= 6 else [f"{len(pages)} pages, expected six samples"]
    found += [] if len(studies) >= 2 else [f"{len(studies)} studies, expected two"]
    pages += studies
    for page in pages:
        text = page.read_text(encoding="utf-8")
        tree = parse(text)
        found += [f"{page.parent.name}/{page.name}: {problem}" for rule in RULES for problem in rule(tree)]
        if not sum(1 for _ in tree.iter()) <= NODES:
            found.append(f"{page.parent.name}/{page.name}: {sum(1 for _ in tree.iter())} nodes")
        if not len(text.encode()) <= BUDGET:
            found.append(f"{page.parent.name}/{page.name}: {len(text.encode())} bytes")
        if re.search(r"https?:|//[a-z]", text):
            found.append(f"{page.parent.name}/{page.name}: names an address")
    found += planted((pathlib.Path(folder) / "passing/report.html").read_text(encoding="utf-8"))
    print("\n".join(found) or f"{len(pages)} pages, {len(RULES)} rules, {len(PLANTED)} planted mistakes found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
