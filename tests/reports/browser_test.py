"""The sample pages in Chromium: browser_test.py FOLDER. Exit status 77 where no browser is."""
import pathlib
import sys

import browser
from browser import becomes, emulate, fresh, load, scripts, value_of

CONTRAST = """
const luminance = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
  return .2126 * r + .7152 * g + .0722 * b; };
const numbers = text => text.match(/[\\d.]+/g).map(Number);
const behind = e => { for (; e; e = e.parentElement) { const c = numbers(getComputedStyle(e).backgroundColor);
  if (c.length < 4 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
const low = [];
for (const e of document.querySelectorAll('h1,h2,h3,p,a,td,th,small,span,caption,summary,label,legend,dt,dd,code,li,pre,button')) {
  if (!e.textContent.trim() || !e.getClientRects().length) continue;
  const [a, b] = [luminance(numbers(getComputedStyle(e).color).slice(0, 3)), luminance(behind(e))];
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (!(ratio >= 4.5)) low.push(e.tagName + ' ' + e.textContent.slice(0, 30) + ' ' + ratio.toFixed(2));
}
return low.slice(0, 5);"""
SHOWN = "[...document.querySelectorAll('%s')].filter(r => r.getClientRects().length).length"
# What a key can stop at: of the radio buttons of one name the checked one.
STOPS = """[...document.querySelectorAll('a[href],button,input,summary,[tabindex="0"]')].filter(
  e => e.checkVisibility() && (e.type !== 'radio' || e.checked))"""
# Sections out of sight are not laid out; what is too wide in one would not show.
LAID_OUT = "document.querySelectorAll('main section').forEach(s => s.style.contentVisibility = 'visible')"
NODES, BYTES = 60_000, 1_500_000


def background(driver):
    return value_of(driver, "getComputedStyle(document.body).backgroundColor")


def looks(driver, address):
    """In light and dark: the right ground, readable text; narrow: the page itself does not scroll sideways."""
    browser.Requests.seen.clear()
    load(driver, address)
    if len(browser.Requests.seen) != 1:
        yield f"requests {browser.Requests.seen}, expected one"
    for scheme, ground in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 20, 20)")):
        emulate(driver, 1280, 900, scheme)
        if background(driver) != ground:
            yield f"{scheme}: the ground is {background(driver)}"
        yield from (f"{scheme}: contrast of {low}" for low in driver.execute_script(CONTRAST))
    value_of(driver, LAID_OUT)
    for width in (1280, 320):
        emulate(driver, width, 900, "light")
        across = value_of(driver, "document.documentElement.scrollWidth")
        if across != width:
            yield f"at {width} px the page is {across} px wide"
    yield from (f"console: {line['message']}" for line in driver.get_log("browser"))


def filters(driver, address):
    """Theme, row filter and permalinks; the same whether or not the page may run its script."""
    fresh(driver, address)
    emulate(driver, 1280, 900, "light")
    for theme, ground in (("dark", "rgb(20, 20, 20)"), ("light", "rgb(255, 255, 255)")):
        driver.find_element("id", f"theme-{theme}").click()
        if background(driver) != ground:
            yield f"the {theme} radio gives {background(driver)}"
    passing = SHOWN % "tr[data-s=pass]"
    before = value_of(driver, passing)
    for choice in ("failing", "notable"):
        driver.find_element("id", f"rows-{choice}").click()
        if not before > 0 or value_of(driver, passing) != 0:
            yield f"'{choice}' leaves {value_of(driver, passing)} of {before} passing rows"
        if not value_of(driver, SHOWN % "tr[data-s=fail]") > 0:
            yield f"'{choice}' hides what fails"
    fresh(driver, address)
    for selector in ("details tr[id]", "details h3[id]"):
        folded = value_of(driver, f"document.querySelector('{selector}').id")
        fresh(driver, f"{address}#{folded}")
        if not value_of(driver, f"document.getElementById('{folded}').checkVisibility()"):
            yield f"a link to the folded #{folded} does not open it"
    for place in ("reading", folded):
        fresh(driver, f"{address}#{place}")
        top = f"document.getElementById('{place}').getBoundingClientRect().top"
        if not becomes(driver, f"0 <= {top} && {top} < 900"):
            yield f"a link to #{place} leaves it at {value_of(driver, top)}"


def precisions(driver, address):
    """The precision radio: columns, rows and panels of the others go, those of the chosen one stay; the same without
    the script."""
    fresh(driver, address)
    names = value_of(driver, "[...document.querySelectorAll('input[name=precision]')].map(e => e.id.slice(10))")
    if names[:1] != ["all"] or len(names) < 3:
        yield f"the choice of a precision is {names}"
    kinds = ("main thead th", "main td", "main tr", ".panels > div", "article")
    before = {(kind, name): value_of(driver, SHOWN % f"{kind}[data-p={name}]") for kind in kinds for name in names[1:]}
    for kind in kinds[:4]:
        if not all(before[kind, name] > 0 for name in names[1:]):
            yield f"{kind} carries no precision: {before}"
    for chosen in names[1:]:
        driver.find_element("id", f"precision-{chosen}").click()
        for (kind, name), count in before.items():
            shown, expected = value_of(driver, SHOWN % f"{kind}[data-p={name}]"), count if name == chosen else 0
            if shown != expected:
                yield f"{chosen} is chosen: {shown} of {count} {kind} of {name} are shown"
    driver.find_element("id", "precision-all").click()
    if {key: value_of(driver, SHOWN % f"{key[0]}[data-p={key[1]}]") for key in before} != before:
        yield "'all' does not bring everything back"


def remembered(driver, address):
    """By the arrow keys, and in the address."""
    from selenium.webdriver.common.keys import Keys
    fresh(driver, address)
    driver.find_element("id", "precision-all").send_keys(Keys.ARROW_RIGHT)
    chosen = value_of(driver, "document.querySelector('input[name=precision]:checked').id.slice(10)")
    if chosen == "all" or not driver.current_url.endswith(f"#?p={chosen}"):
        yield f"the arrow key chose {chosen}, the address is {driver.current_url}"
    driver.find_element("id", "rows-failing").click()
    address = driver.current_url
    fresh(driver, address)
    for radio in (f"precision-{chosen}", "rows-failing"):
        if not value_of(driver, f"document.getElementById('{radio}').checked"):
            yield f"{address} does not bring {radio} back"


def without_scripts(driver, address):
    scripts(driver, False)
    try:
        yield from filters(driver, address)
        yield from precisions(driver, address)
        fresh(driver, address)
        if value_of(driver, SHOWN % ".scripted,button") != 0:
            yield "controls that need the script are shown without it"
        words = value_of(driver, "document.body.innerText")
        yield from (f"{word} is not readable" for word in ("Failures", "reproduce: ./tally replay") if word not in words)
    finally:
        scripts(driver, True)


def text_filter(driver, address):
    fresh(driver, address)
    driver.find_element("id", "filter").send_keys("d.fc1.weight")
    shown, all_rows = value_of(driver, SHOWN % "main tr[data-s]"), value_of(driver, "document.querySelectorAll('tr[data-s]').length")
    if not 0 < shown < all_rows:
        yield f"the text filter shows {shown} of {all_rows} rows"
    if "q=d.fc1.weight" not in driver.current_url:
        yield f"the address does not hold the filter: {driver.current_url}"
    fresh(driver, driver.current_url)
    if value_of(driver, SHOWN % "main tr[data-s]") != shown:
        yield "the address does not bring the filter back"
    fresh(driver, f"{address}#?s=failing")
    if value_of(driver, SHOWN % "tr[data-s=pass]") != 0:
        yield "the address does not bring the row filter back"


def sorting(driver, address):
    from selenium.webdriver.common.keys import Keys
    fresh(driver, address)
    table = "document.querySelector('#worst').parentElement.querySelector('table')"
    worst = 6  # the column of r: one case's is infinite, another's is no number and stays last
    column = (f"[...{table}.tBodies[0].rows].map(r => parseFloat(r.cells[{worst}].innerText.replace('inf', '1e308')))"
              ".filter(r => !isNaN(r))")
    button = driver.find_elements("css selector", "section[aria-labelledby=worst] thead button")[worst]
    for word, ordered in (("ascending", sorted), ("descending", lambda v: sorted(v, reverse=True))):
        button.send_keys(Keys.ENTER)
        if value_of(driver, f"{table}.tHead.rows[0].cells[{worst}].ariaSort") != word:
            yield f"the header does not say {word}"
        found = value_of(driver, column)
        if len(set(found)) < 3 or found != ordered(found):
            yield f"{word}: {found}"
    named = value_of(driver, "document.querySelectorAll('[aria-sort]').length")
    if named != 1:
        yield f"{named} headers say how they sort"


def copying(driver, address):
    fresh(driver, address)
    driver.find_element("css selector", "pre.copy + button").click()
    if not becomes(driver, "document.querySelector('[role=status]').textContent === 'copied'"):
        yield "copying says nothing"


def keyboard(driver, address):
    """The first stop is the skip link, and the tab key reaches every control that is shown."""
    from selenium.webdriver.common.keys import Keys
    fresh(driver, address)
    emulate(driver, 1280, 900, "light")
    driver.find_element("tag name", "body").send_keys(Keys.TAB)
    if value_of(driver, "document.activeElement.getAttribute('href')") != "#main":
        yield "the skip link is not the first stop"
    value_of(driver, f"window.stops = new Set({STOPS}); window.stops.size")
    for _ in range(value_of(driver, "window.stops.size") + 20):
        value_of(driver, "window.stops.delete(document.activeElement)")
        driver.switch_to.active_element.send_keys(Keys.TAB)
    left = value_of(driver, "[...window.stops].map(e => e.outerHTML.slice(0, 80)).slice(0, 3)")
    yield from (f"the tab key does not reach {stop}" for stop in left)
    outline = value_of(driver, "document.activeElement.focus(), getComputedStyle(document.activeElement).outlineStyle")
    if outline == "none":
        yield "the focus cannot be seen"


def printed(driver, address):
    emulate(driver, 1000, 900, "light", "print")
    fresh(driver, address)
    closed = "[...document.querySelectorAll('details:not([open]) > .scroll, details:not([open]) > figure')]"
    hidden = value_of(driver, f"{closed}.filter(e => !e.checkVisibility()).length")
    if hidden or not value_of(driver, f"{closed}.length") > 0:
        yield f"{hidden} folded tables and figures are not printed"
    if value_of(driver, SHOWN % ".bar,nav,.copier") != 0:
        yield "controls are printed"
    emulate(driver, 1280, 900, "light")


def under_jenkins(driver, server, name):
    """Without style sheet and script: whole, and every mark still drawn."""
    fresh(driver, f"{server}/jenkins/{name}")
    driver.get_log("browser")  # it says what the policy dropped
    marks = "[...document.querySelectorAll('svg line,svg path,svg polyline')]"
    lost = value_of(driver, f"{marks}.filter(e => getComputedStyle(e).stroke === 'none').length")
    if lost or not value_of(driver, f"{marks}.length") > 0:
        yield f"{lost} marks vanish"
    if value_of(driver, "getComputedStyle(document.querySelector('.verdict')).borderLeftWidth") != "0px":
        yield "the style sheet was not dropped, so nothing was shown"
    if value_of(driver, SHOWN % "table") == 0:
        yield "no table is shown"


def hostile(driver, address):
    from selenium.common.exceptions import NoAlertPresentException
    fresh(driver, address)
    try:
        driver.switch_to.alert.accept()
        yield "a name ran"
    except NoAlertPresentException:
        pass
    if value_of(driver, "document.scripts.length") != 1:
        yield "a name became a script"
    if "alert(1)" not in value_of(driver, "document.querySelector('article h3').textContent"):
        yield "the hostile name is not shown"


def budgets(driver, address, file):
    if not file.stat().st_size <= BYTES:
        yield f"{file.stat().st_size} bytes"
    times = []
    for _ in range(5):  # the best of five, printed: a busy machine must not fail a test
        fresh(driver, address)
        times.append(value_of(driver, "performance.getEntriesByType('navigation')[0].loadEventStart") / 1000)
    nodes = value_of(driver, "document.querySelectorAll('*').length")
    if not nodes <= NODES:
        yield f"{nodes} nodes"
    if not 0 < min(times):
        yield "does not load"
    print(f"{file.parent.name}: {file.stat().st_size} bytes, {nodes} nodes, {min(times):.2f} s")


def all_checks(driver, root, server):
    names = [str(p.relative_to(root)) for glob in ("*/report.html", "studies/*.html") for p in sorted(root.glob(glob))]
    if not names:
        yield "no page"
    for name in names:
        yield from (f"{name}: {p}" for p in looks(driver, f"{server}/{name}"))
    failing = f"{server}/failing/report.html"
    for check in (filters, precisions, remembered, without_scripts, text_filter, sorting, copying, keyboard, printed):
        yield from (f"{check.__name__}: {p}" for p in check(driver, failing))
    yield from (f"under_jenkins: {p}" for p in under_jenkins(driver, server, "failing/report.html"))
    yield from (f"hostile: {p}" for p in hostile(driver, f"{server}/hostile/report.html"))
    for name in ("large", "failing"):
        yield from (f"{name}: {p}" for p in budgets(driver, f"{server}/{name}/report.html", root / name / "report.html"))


def main(folder):
    if reason := browser.absent():
        print(f"skipped: {reason}")
        return 77
    server, driver = browser.serve(folder), browser.start()
    try:
        found = list(all_checks(driver, pathlib.Path(folder), server))
    finally:
        driver.quit()
    print("\n".join(found) or "every check holds")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
