"""Every sample page held against axe-core: axe_test.py FOLDER. Exit status 77 where the browser or axe-core is absent.

TALLY_AXE names axe.min.js (fetch_axe.sh fetches it)."""
import os
import pathlib
import sys

import browser

RUN = """const done = arguments[arguments.length - 1], rules = arguments[0];
axe.run(document, {resultTypes: ['violations'], ...(rules ? {runOnly: rules} : {})}).then(found => done(found.violations.map(
  v => v.id + ' (' + v.impact + '): ' + v.nodes.length + ', first ' + v.nodes[0].html.slice(0, 160))),
  problem => done(['axe failed: ' + problem]));"""
LIGHT, DARK, NARROW = ("light", 1280), ("dark", 1280), ("light", 320)
VIEWS = (("failing", LIGHT), ("failing", DARK), ("failing", NARROW), ("passing", LIGHT), ("empty", DARK),
         ("hostile", NARROW), ("compared", LIGHT), ("capture_right", LIGHT), ("capture_wrong", LIGHT), ("capture_wrong", DARK),
         ("capture_partial", DARK), ("capture_hostile", NARROW), ("capture_large", LIGHT), ("vary_right", LIGHT), ("vary_wrong", DARK),
         ("vary_wrong", NARROW), ("vary_hostile", NARROW), ("vary_large", LIGHT))
# What axe must find where it is planted, so that a run without findings says something.
PLANTED = (
    ("color-contrast", "document.querySelector('main p').setAttribute('style', 'color:#999')"),
    ("html-has-lang", "document.documentElement.removeAttribute('lang')"),
    ("svg-img-alt", "document.querySelector('svg').removeAttribute('aria-labelledby'); document.querySelector('svg title').remove()"),
    ("link-name", "document.querySelector('nav a').textContent = ''"),
)


def violations(driver, axe, rules=None):
    driver.execute_script(axe)
    return driver.execute_async_script(RUN, rules)


def planted(driver, address, axe):
    """Styles come in through the object model, as the page's policy drops attributes."""
    for rule, change in PLANTED:
        browser.fresh(driver, address)
        driver.execute_script(change.replace("setAttribute('style', 'color:#999')", "style.color = '#999'"))
        if not any(found.startswith(rule) for found in violations(driver, axe, [rule])):
            yield f"axe does not notice the planted {rule}"


def main(folder):
    script = pathlib.Path(os.environ.get("TALLY_AXE", ""))
    reason = browser.absent() or ("" if script.is_file() else f"no axe-core at {script}: tests/reports/fetch_axe.sh")
    if reason:
        print(f"skipped: {reason}")
        return 77
    axe, root, found, count = script.read_text(encoding="utf-8"), pathlib.Path(folder), [], 0
    address, driver = browser.serve(folder), browser.start()
    try:
        driver.set_script_timeout(120)
        for name, (scheme, width) in VIEWS:
            browser.emulate(driver, width, 900, scheme)
            browser.fresh(driver, f"{address}/{name}/report.html")
            driver.execute_script("for (const d of document.querySelectorAll('details')) d.open = true;")
            found += [f"{name}, {scheme}, {width} px: {v}" for v in violations(driver, axe)]
            count += 1
        for page in sorted(root.glob("studies/*.html")):
            browser.fresh(driver, f"{address}/studies/{page.name}")
            found += [f"{page.name}: {v}" for v in violations(driver, axe)]
        found += planted(driver, f"{address}/passing/report.html", axe)
    finally:
        driver.quit()
    print("\n".join(found) or f"{count} views without violation; {len(PLANTED)} planted ones found")
    return 1 if found or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
