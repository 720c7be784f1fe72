"""Chromium with its driver, pages over loopback, and what tests of pages ask of them."""
import functools
import http.server
import json
import shutil
import threading
import time

JENKINS = "sandbox; default-src 'none'; style-src 'self'"


class Requests(http.server.SimpleHTTPRequestHandler):
    """Serves a folder; what lies under /jenkins/ is the same folder under Jenkins' default policy."""
    seen = []

    def log_message(self, *_):
        Requests.seen.append(self.path)

    def translate_path(self, path):
        return super().translate_path(path.removeprefix("/jenkins"))

    def end_headers(self):
        if self.path.startswith("/jenkins/"):
            self.send_header("Content-Security-Policy", JENKINS)
        super().end_headers()


def serve(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Requests, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def absent():
    """Why no browser can be had; empty if it can."""
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        return "no Chromium with its driver here"
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "no Selenium here"
    return ""


def start():
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    options = Options()
    options.binary_location = shutil.which("chromium")
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def emulate(driver, width, height, scheme, media=""):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]})


def scripts(driver, allowed):
    """Of the page itself; ours run all the same."""
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not allowed})


def value_of(driver, expression):
    """Works where the page may run nothing, too."""
    answer = driver.execute_cdp_cmd("Runtime.evaluate", {"expression": expression, "returnByValue": True})
    if "exceptionDetails" in answer:
        raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
    return answer["result"].get("value")


def becomes(driver, expression, seconds=30):
    """Whether the expression is true, now or before the time is over: a loaded machine takes its time."""
    end = time.monotonic() + seconds
    while not (found := value_of(driver, expression)) and time.monotonic() < end:
        time.sleep(0.02)
    return bool(found)


def load(driver, address):
    """A page that is there: the driver's own answer may come while the page before it still answers questions."""
    driver.get(address)
    place = json.dumps(address.partition("#")[0])
    if not becomes(driver, f"document.readyState === 'complete' && location.href.split('#')[0] === {place}"):
        raise RuntimeError(f"{address} is not there after its load")


def fresh(driver, address):
    """A load, even where only the fragment differs from the page before."""
    load(driver, "about:blank")
    load(driver, address)
