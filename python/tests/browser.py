"""A real browser for the pages that the program makes: headless Chromium through its driver.

Tests take the fixture ``browser`` (see conftest.py). Where there is no Chromium, or no driver, they are
skipped, and the summary says so.
"""

import json
import shutil

CHROMIUMS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]
FLAGS = [
    "--headless=new",
    "--no-sandbox",  # the containers of CI run as root
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]


def programs():
    """The paths of Chromium and of its driver, or a sentence that says what is missing."""
    chromium = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        return f"no {'chromium' if chromium is None else 'chromedriver'} is installed; pages are not tested"
    return chromium, driver


class Browser:
    """A driver, what the page did wrong, and what it asked the network for."""

    def __init__(self, chromium, driver, folder):
        # Imported here, so that the other tests run where selenium is not installed.
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for flag in [*FLAGS, f"--user-data-dir={folder}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(driver))
        # As if its window were in front: elsewhere nothing shows that it has the focus.
        self.command("Emulation.setFocusEmulationEnabled", enabled=True)

    def open(self, place, *, width=1200, height=900, dark=False, script=True):
        """Open a file or an address in a window of this size, and forget what earlier pages did."""
        self.command("Emulation.setScriptExecutionDisabled", value=not script)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])
        window = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", **window)
        self.errors()
        self.requests()
        address = place if isinstance(place, str) else place.resolve().as_uri()
        self.driver.get(address)
        return self.driver

    def command(self, name, **parameters):
        """Run a command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, parameters)

    def errors(self):
        """What the console has complained about since it was last asked."""
        log = self.driver.get_log("browser")
        return [entry["message"] for entry in log if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """The addresses that have been asked for since this was last asked, but for data inside the page.

        What the browser's own first page asks for may arrive later than that, and is none of ours.
        """
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        return [address for address in sent if not address.startswith(("data:", "blob:", "chrome:"))]

    def quit(self):
        """End the browser."""
        self.driver.quit()
