"""The pictures of the documents: pages that `cargo xtask screenshots` has made, as Chromium shows them."""

import base64
import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "tests"))
from browser import Browser, programs

# Which page, how much of it from the top, and the name of its picture.
SHOTS = [
    ("sparsemble-demo/index.html", "header", "demo.jpg"),
    ("report.html", "#pictures", "report.jpg"),
]
# What is clicked in the studio, one after the other: a sample, a task and its test, and off it goes.
STUDIO = ["#samples button", "[name=task][value=denoise]", "[name=denoise-test]", "#run"]
WIDTH = 1100
# Space that the page has around what is shown.
AROUND = 40
PATIENCE = 120  # seconds, for machines that are busy


def shoot(browser, page, last, picture):
    """Take a picture of a page from its top to the end of an element."""
    browser.open(page, width=WIDTH)
    save(browser, last, picture)


def shoot_studio(browser, program, picture):
    """Take a picture of the studio after it has removed noise that it has added to a sample."""
    from selenium.webdriver.support.ui import WebDriverWait

    def click(selector):
        found = f"return document.querySelector({json.dumps(selector)})"
        wait(f"{found}?.disabled === false")
        browser.driver.execute_script(f"{found}.click()")

    def wait(condition):
        driver = browser.driver
        WebDriverWait(driver, PATIENCE).until(lambda _: driver.execute_script(condition))

    command = [program, "studio", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as studio:
        try:
            told = "".join(iter(studio.stdout.readline, "}\n")) + "}"
            browser.open(json.loads(told)["url"], width=WIDTH)
            for selector in STUDIO:
                click(selector)
            wait("return !document.getElementById('download').hidden")
            save(browser, "main", picture)
        finally:
            studio.send_signal(signal.SIGINT)


def save(browser, last, picture):
    """Keep what the browser shows from the top of the page to the end of an element."""
    driver = browser.driver
    end = "return document.querySelector(arguments[0]).getBoundingClientRect().bottom + scrollY"
    height = driver.execute_script(end, last) + AROUND
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": height, "scale": 1}
    shot = browser.command(
        "Page.captureScreenshot", format="jpeg", quality=88, clip=clip, captureBeyondViewport=True
    )
    picture.write_bytes(base64.b64decode(shot["data"]))
    print(f"wrote {picture}, {picture.stat().st_size // 1000} kB")


def main(program, folder, figures):
    """Take all of them."""
    found = programs()
    if isinstance(found, str):
        sys.exit(found)
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(*found, profile)
        for page, last, name in SHOTS:
            shoot(browser, folder / page, last, figures / name)
        shoot_studio(browser, program, figures / "studio.jpg")
        browser.quit()


main(*map(Path, sys.argv[1:]))
