"""`sparsemble studio` in a real browser: every task, the mask, cancelling, and what other pages cannot do.

`cargo xtask ci --only pytest` builds the program and names it in the variable SPARSEMBLE_PROGRAM.
"""

import base64
import functools
import http.server
import io
import itertools
import json
import os
import signal
import subprocess
import threading

import numpy as np
import pytest
from PIL import Image

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

PROGRAM = os.environ.get("SPARSEMBLE_PROGRAM")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="SPARSEMBLE_PROGRAM does not name the program")
PATIENCE = 120  # seconds, for machines that are busy


@pytest.fixture(scope="module")
def studio():
    """The address of a running studio; it must end well when it is asked to by Ctrl-C."""
    command = [PROGRAM, "studio", "--port", "0", "--threads", "2", "--max-megapixels", "1", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        told = "".join(iter(program.stdout.readline, "}\n")) + "}"
        yield json.loads(told)["url"]
        program.send_signal(signal.SIGINT)
        assert program.wait(timeout=PATIENCE) == 0


class Page:
    """The page as a user sees it."""

    def __init__(self, browser, address, **window):
        self.browser = browser
        self.driver = browser.open(address, **window)
        self.wait(lambda: self.driver.find_elements(By.CSS_SELECTOR, "#samples button"))

    def find(self, id):
        return self.driver.find_element(By.ID, id)

    def click(self, selector):
        self.driver.execute_script("document.querySelector(arguments[0]).click()", selector)

    def wait(self, condition):
        WebDriverWait(self.driver, PATIENCE, poll_frequency=0.05).until(lambda _: condition())

    def set(self, id, value):
        script = """
            const [input, value] = arguments;
            input.value = value;
            input.dispatchEvent(new Event("input", { bubbles: true }));
        """
        self.driver.execute_script(script, self.find(id), value)

    def choose(self, path):
        self.find("file").send_keys(str(path))
        self.wait(lambda: path.name in self.find("drop-text").text or self.error())

    def error(self):
        return self.find("error").text

    def run(self):
        """Runs the chosen task to its end and returns the figures shown and the picture to download."""
        self.find("run").click()
        self.wait(lambda: self.find("run").is_enabled() or self.error())
        assert not self.error()
        self.wait(lambda: self.find("download").is_displayed())
        return self.find("figures").text, self.downloaded()

    def downloaded(self):
        """The pixels of the picture behind the link, drawn: the page may show it, and may not fetch it."""
        script = """
            const [image, done] = [new Image(), arguments[0]];
            image.src = document.getElementById("download").href;
            image.decode().then(() => {
                const sheet = document.createElement("canvas");
                [sheet.width, sheet.height] = [image.naturalWidth, image.naturalHeight];
                sheet.getContext("2d").drawImage(image, 0, 0);
                done(sheet.toDataURL("image/png").split(",")[1]);
            });
        """
        png = base64.b64decode(self.driver.execute_async_script(script))
        return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)

    def size(self, id):
        script = "return [arguments[0].naturalWidth, arguments[0].naturalHeight]"
        return self.driver.execute_script(script, self.find(id))


@pytest.fixture
def page(browser, studio):
    page = Page(browser, studio)
    yield page
    assert page.browser.errors() == []
    assert all(address.startswith(studio) for address in page.browser.requests())


@pytest.fixture(scope="module")
def picture():
    """Smooth waves in three colours with edges in them, 96 × 80."""
    rows, columns = np.mgrid[:80, :96]
    waves = [np.sin(rows / 7 + shift) + np.cos(columns / 9 - shift) for shift in (0, 1, 2)]
    pixels = 128 + 40 * np.stack(waves, axis=-1) + 20 * (columns // 24 % 2)[..., None]
    return np.clip(np.rint(pixels), 0, 255).astype(np.uint8)


@pytest.fixture
def file(picture, tmp_path):
    Image.fromarray(picture).save(tmp_path / "waves.png")
    return tmp_path / "waves.png"


def decibels(figures, name):
    """The PSNR of this name among the figures that the page shows."""
    lines = figures.split("\n")
    found = next(value for value, meaning in itertools.pairwise(lines) if meaning.endswith(name))
    return float(found.removesuffix(" dB"))


def test_the_empty_page_invites_and_cannot_run(page):
    assert page.find("empty").is_displayed()
    assert not page.find("run").is_enabled()
    assert "1.0 megapixels" in page.find("file-limits").text


def test_a_picture_is_enlarged_and_compared_by_a_slider(page, file, picture):
    page.choose(file)
    page.click("[name=scale][value='3']")
    figures, after = page.run()
    assert after.shape == (240, 288, 3)
    assert figures.startswith("288 × 240")
    assert abs(after[1::3, 1::3] - picture).mean() < 3
    assert page.size("before") == page.size("after-over") == [288, 240]
    assert page.find("download").get_attribute("download") == "waves-x3.png"
    split = page.find("split")
    place = lambda: page.find("handle").location["x"]  # noqa: E731
    middle = place()
    split.send_keys(Keys.ARROW_LEFT * 20)
    assert split.get_attribute("aria-valuetext") == "30 % before"
    assert place() < middle
    box = page.find("before").rect
    actions = webdriver.ActionChains(page.driver)
    actions.move_to_element_with_offset(page.find("before"), int(0.3 * box["width"]), 0).click().perform()
    assert place() > middle
    page.click("[name=view][value=beside]")
    assert page.find("after").is_displayed()
    assert not page.find("handle").is_displayed()
    page.click("[name=zoom][value='2']")
    assert page.find("after").rect["width"] == 576


def test_noise_that_is_added_is_taken_out_again(page, file):
    page.choose(file)
    page.click("[name=task][value=denoise]")
    page.set("sigma", 20)
    page.click("[name=denoise-test]")
    figures, after = page.run()
    assert after.shape == (80, 96, 3)
    assert decibels(figures, ", denoised") > decibels(figures, ", with noise") + 5
    page.click("[name=denoise-test]")
    assert "PSNR" not in page.run()[0]


def test_what_is_painted_is_filled_in_and_nothing_else(page, file, picture):
    damaged = picture.copy()
    damaged[38:42, 30:60] = 255
    Image.fromarray(damaged).save(file)
    page.choose(file)
    page.click("[name=task][value=inpaint]")
    assert not page.find("run").is_enabled()
    page.set("brush", 10)
    mask = page.find("mask")
    scale = mask.rect["width"] / 96

    def stroke():
        actions = webdriver.ActionChains(page.driver, duration=50)
        actions.move_to_element_with_offset(mask, int(-24 * scale), 0).click_and_hold()
        actions.move_by_offset(int(42 * scale), 0).release().perform()

    stroke()
    assert page.find("run").is_enabled()
    page.find("undo").click()
    assert not page.find("run").is_enabled()
    stroke()
    _, after = page.run()
    changed = (after != damaged).any(axis=-1)
    assert changed[39:41, 32:58].all()
    assert not changed[:30].any()
    assert not changed[50:].any()
    assert abs(after[38:42, 30:60] - picture[38:42, 30:60]).mean() < 10
    page.find("repaint").click()
    assert mask.is_displayed()


def test_the_mask_can_be_painted_and_erased_by_keyboard(page, file):
    page.choose(file)
    page.click("[name=task][value=inpaint]")
    page.driver.execute_script("arguments[0].focus()", page.find("mask"))
    webdriver.ActionChains(page.driver).send_keys(Keys.SPACE, Keys.ARROW_LEFT, Keys.SPACE).perform()
    assert page.find("run").is_enabled()
    page.click("#eraser")
    page.set("brush", 100)
    page.driver.execute_script("arguments[0].focus()", page.find("mask"))
    webdriver.ActionChains(page.driver).send_keys(Keys.SPACE).perform()
    assert not page.find("run").is_enabled()
    page.find("undo").click()
    assert page.find("run").is_enabled()
    page.find("clear").click()
    assert not page.find("run").is_enabled()


def test_a_picture_is_recovered_from_half_of_its_numbers(page, file):
    page.choose(file)
    page.click("[name=task][value=recover]")
    page.set("measurements", 32)
    assert page.find("measurements-value").text == "50 % (32 of 64)"
    figures, after = page.run()
    assert after.shape == (80, 96, 3)
    assert decibels(figures, ", recovered from 50 %") > 30
    assert "Original" in page.find("before-caption").text


def test_a_sample_is_taken_by_one_click_and_a_job_can_be_cancelled(page):
    page.find("samples").find_elements(By.TAG_NAME, "button")[1].click()
    page.wait(lambda: page.find("drop-text").text == "chelsea.png: 451 × 300")
    page.click("[name=task][value=recover]")
    page.find("run").click()
    page.wait(lambda: page.find("progress").get_attribute("value") not in (None, "0"))
    page.find("cancel").click()
    page.wait(lambda: not page.find("running").is_displayed())
    assert page.find("status").get_attribute("textContent") == "Cancelled"
    assert page.find("run").is_enabled()
    assert not page.find("download").is_displayed()


def test_a_picture_can_be_dropped_on_the_page(page, file):
    drop = """
        const bytes = Uint8Array.from(atob(arguments[0]), (letter) => letter.charCodeAt(0));
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([bytes], "dropped.png"));
        const how = { dataTransfer, bubbles: true, cancelable: true };
        for (const kind of ["dragenter", "dragover", "drop"])
            document.body.dispatchEvent(new DragEvent(kind, how));
    """
    page.driver.execute_script(drop, base64.b64encode(file.read_bytes()).decode())
    page.wait(lambda: page.find("drop-text").text == "dropped.png: 96 × 80")


def test_files_that_cannot_be_taken_are_refused_in_words(browser, studio, file):
    page = Page(browser, studio)
    for name, content, reason in [
        ("text.png", b"this is text", "text.png: this is no picture of a known kind"),
        ("broken.png", file.read_bytes()[:300], "broken.png: "),
        ("bomb.pgm", b"P5 60000 60000 255\n", "bomb.pgm: 60000×60000 pixels are more than the 1000000"),
    ]:
        (file.parent / name).write_bytes(content)
        page.choose(file.parent / name)
        assert page.error().startswith(reason)
    page.choose(file)
    assert not page.error()
    # The browser tells of the answers that were refusals, and of nothing else.
    assert all("422" in error for error in browser.errors())


def test_another_page_can_neither_read_nor_use_the_studio(browser, studio, tmp_path):
    (tmp_path / "index.html").write_text(
        "<!doctype html><title>another page</title><link rel=icon href=data:,>"
    )
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    handler = functools.partial(quiet, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        driver = browser.open(f"http://127.0.0.1:{server.server_port}/")
        attempt = """
            const [studio] = arguments;
            const tried = async (path, how) => {
                try { return (await fetch(studio + path, how)).type; } catch (error) { return error.name; }
            };
            const frame = document.body.appendChild(document.createElement("iframe"));
            const loaded = new Promise((done) => (frame.onload = done));
            frame.src = studio;
            await loaded;
            let inside;
            try { inside = frame.contentWindow.document.title; } catch (error) { inside = error.name; }
            const headers = { "X-Sparsemble-Token": "0" };
            return [
                await tried(""),
                await tried("api/jobs", { method: "POST", headers, body: "{}" }),
                await tried("api/pictures", { method: "POST", mode: "no-cors", body: "P5 1 1 255 0" }),
                inside,
            ];
        """
        found = driver.execute_script(f"return (async (...arguments) => {{{attempt}}})(...arguments)", studio)
        server.shutdown()
    assert found == ["TypeError", "TypeError", "TypeError", "SecurityError"]
    browser.errors()


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_fits_a_narrow_screen_in_light_and_dark(browser, studio, file, dark):
    page = Page(browser, studio, width=400, height=800, dark=dark)
    page.choose(file)
    for task in ["enlarge", "denoise", "inpaint", "recover"]:
        page.click(f"[name=task][value={task}]")
        wide = "return document.documentElement.scrollWidth"
        assert page.driver.execute_script(wide) <= 400
    paper = page.driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(16, 22, 21)") == dark
    assert page.browser.errors() == []


def test_every_control_has_a_name_and_can_be_reached_by_keyboard(page, file):
    page.choose(file)
    page.click("[name=task][value=inpaint]")
    nameless = """
        const named = (element) => element.labels?.length || element.ariaLabel || element.textContent.trim();
        const controls = [...document.querySelectorAll("input, button, canvas, a[href]")];
        return controls.filter((control) => !named(control)).map((control) => control.id);
    """
    assert page.driver.execute_script(nameless) == []
    reached = set()
    for _ in range(40):
        webdriver.ActionChains(page.driver).send_keys(Keys.TAB).perform()
        active = page.driver.switch_to.active_element
        reached.add(active.get_attribute("id") or active.get_attribute("name"))
    assert {"file", "task", "brush", "eraser", "inpaint-test", "zoom", "mask"} <= reached
