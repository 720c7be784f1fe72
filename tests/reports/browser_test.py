"""The sample pages in Chromium: browser_test.py FOLDER. Exit status 77 where no browser is."""
import functools
import http.server
import pathlib
import shutil
import sys
import threading

CONTRAST = """
const luminance = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
  return .2126 * r + .7152 * g + .0722 * b; };
const numbers = text => text.match(/[\\d.]+/g).map(Number);
const behind = e => { for (; e; e = e.parentElement) { const c = numbers(getComputedStyle(e).backgroundColor);
  if (c.length < 4 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
const low = [];
for (const e of document.querySelectorAll('h1,h2,h3,p,a,td,th,small,span,caption,summary,label,legend,dt,dd,code,li')) {
  if (!e.textContent.trim() || !e.getClientRects().length) continue;
  const [a, b] = [luminance(numbers(getComputedStyle(e).color).slice(0, 3)), luminance(behind(e))];
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (!(ratio >= 4.5)) low.push(e.tagName + ' ' + e.textContent.slice(0, 30) + ' ' + ratio.toFixed(2));
}
return low.slice(0, 5);"""


class Requests(http.server.SimpleHTTPRequestHandler):
    seen = []

    def log_message(self, *_):
        Requests.seen.append(self.path)


def serve(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Requests, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def browser():
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    options = Options()
    options.binary_location = shutil.which("chromium")
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def emulate(driver, width, height, scheme):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"features": [{"name": "prefers-color-scheme", "value": scheme}]})


def background(driver):
    return driver.execute_script("return getComputedStyle(document.body).backgroundColor")


def looks(driver, address):
    """In light and dark: the right ground, readable text; narrow: the page itself does not scroll sideways."""
    Requests.seen.clear()
    driver.get(address)
    if len(Requests.seen) != 1:
        yield f"requests {Requests.seen}, expected one"
    for scheme, ground in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 20, 20)")):
        emulate(driver, 1280, 900, scheme)
        if background(driver) != ground:
            yield f"{scheme}: the ground is {background(driver)}"
        yield from (f"{scheme}: contrast of {low}" for low in driver.execute_script(CONTRAST))
    for width in (1280, 320):
        emulate(driver, width, 900, "light")
        across = driver.execute_script("return document.documentElement.scrollWidth")
        if across != width:
            yield f"at {width} px the page is {across} px wide"
    yield from (f"console: {line['message']}" for line in driver.get_log("browser"))


def controls(driver, address):
    """Theme and row filter work by themselves, a link opens what is folded, the first stop is the skip link."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    driver.get(address)
    emulate(driver, 1280, 900, "light")
    driver.find_element(By.ID, "theme-dark").click()
    if background(driver) != "rgb(20, 20, 20)":
        yield "the dark radio does not darken the page"
    driver.find_element(By.ID, "theme-light").click()
    count = "return [...document.querySelectorAll('tr[data-s=pass]')].filter(r => r.getClientRects().length).length"
    before = driver.execute_script(count)
    driver.find_element(By.ID, "rows-failing").click()
    if not before > 0 or driver.execute_script(count) != 0:
        yield f"the row filter leaves {driver.execute_script(count)} of {before} passing rows"
    driver.get("about:blank")
    driver.get(address)
    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    if driver.execute_script("return document.activeElement.getAttribute('href')") != "#main":
        yield "the skip link is not the first stop"
    folded = driver.execute_script("return document.querySelector('details tr[id]').id")
    driver.get(f"{address}#{folded}")
    if not driver.execute_script(f"return document.getElementById('{folded}').getClientRects().length"):
        yield "a link to a folded row does not open it"


def main(folder):
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("skipped: no Chromium with its driver here")
        return 77
    try:
        import selenium  # noqa: F401
    except ImportError:
        print("skipped: no Selenium here")
        return 77
    address, driver, found = serve(folder), browser(), []
    try:
        root = pathlib.Path(folder)
        names = [str(p.relative_to(root)) for glob in ("*/report.html", "studies/*.html") for p in sorted(root.glob(glob))]
        for name in names:
            found += [f"{name}: {p}" for p in looks(driver, f"{address}/{name}")]
        found += [f"controls: {p}" for p in controls(driver, f"{address}/failing/report.html")]
    finally:
        driver.quit()
    print("\n".join(found) or f"{len(names)} pages in light, dark and narrow")
    return 1 if found or not names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
