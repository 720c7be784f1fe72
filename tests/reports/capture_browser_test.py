"""The page of a capture in Chromium: capture_browser_test.py FOLDER. Exit status 77 where no browser is."""
import sys

import browser
from browser import becomes, emulate, fresh, value_of
# Sections out of sight are not laid out.
LAID_OUT = "document.querySelectorAll('main section').forEach(s => s.style.contentVisibility = 'visible')"


def grid(driver, address):
    """The grid of a capture: its stages stay in sight beside the columns, and its one link leads to the failing tensors."""
    fresh(driver, address)
    emulate(driver, 320, 900, "light")
    value_of(driver, LAID_OUT)
    region = "document.querySelector('.grid .scroll')"
    value_of(driver, f"{region}.scrollLeft = 200")
    left = value_of(driver, f"document.querySelector('.grid tbody th').getBoundingClientRect().left - {region}.getBoundingClientRect().left")
    if not value_of(driver, f"{region}.scrollLeft") > 0 or left != 0:
        yield f"scrolled by {value_of(driver, f'{region}.scrollLeft')}, the stages stand at {left}"
    emulate(driver, 1280, 900, "light")
    links = driver.find_elements("css selector", ".grid td a")
    if len(links) != 1:
        yield f"{len(links)} links in the grid, expected that of the first failure"
    links[0].click()
    if not becomes(driver, "location.hash === '#failing'"):
        yield "the first failure does not lead to its tensors"
    for status in ("pass", "fail"):
        tint = value_of(driver, f"getComputedStyle(document.querySelector('.grid td.tint-{status}')).backgroundColor")
        if tint == value_of(driver, "getComputedStyle(document.body).backgroundColor"):
            yield f"{status} has no colour"


def runs_nothing(driver, address):
    fresh(driver, address)
    if value_of(driver, "document.scripts.length") != 0:
        yield "a name became a script"
    if "alert(1)" not in value_of(driver, "document.querySelector('.grid tbody th').textContent"):
        yield "the hostile name is not shown"


def main(folder):
    if reason := browser.absent():
        print(f"skipped: {reason}")
        return 77
    server, driver = browser.serve(folder), browser.start()
    try:
        found = list(grid(driver, f"{server}/capture_wrong/report.html"))
        found += runs_nothing(driver, f"{server}/capture_hostile/report.html")
    finally:
        driver.quit()
    print("\n".join(found) or "every check holds")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
