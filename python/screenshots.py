"""The pictures of the documents: pages that `cargo xtask screenshots` has made, as Chromium shows them."""

import base64
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
WIDTH = 1100
# Space that the page has around what is shown.
AROUND = 40


def shoot(browser, page, last, picture):
    """Take a picture of a page from its top to the end of an element."""
    driver = browser.open(page, width=WIDTH)
    end = "return document.querySelector(arguments[0]).getBoundingClientRect().bottom + scrollY"
    height = driver.execute_script(end, last) + AROUND
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": height, "scale": 1}
    shot = browser.command(
        "Page.captureScreenshot", format="jpeg", quality=88, clip=clip, captureBeyondViewport=True
    )
    picture.write_bytes(base64.b64decode(shot["data"]))
    print(f"wrote {picture}, {picture.stat().st_size // 1000} kB")


def main(folder, figures):
    """Take all of them."""
    found = programs()
    if isinstance(found, str):
        sys.exit(found)
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(*found, profile)
        for page, last, name in SHOTS:
            shoot(browser, folder / page, last, figures / name)
        browser.quit()


main(*map(Path, sys.argv[1:]))
