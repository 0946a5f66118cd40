"""The pages that the program makes, in a real browser: what a reader does, and what they never do."""

import json

import numpy as np
import pytest
from PIL import Image

PICTURE = "restore noisy.png --task denoise --reference photo.png --report page.html -o clean.png"
PAGES = {
    "restore": PICTURE,
    "inpaint": "restore noisy.png --task inpaint --mask mask.png --report page.html -o whole.png",
    "recover": "recover z.npz --report page.html -o found.png",
    "recover-paper": "recover z.npz --preset paper --reference photo.png --report page.html -o paper.png",
    "upscale": "upscale photo.png --report page.html -o large.png",
    "train": "train --method boost-km --atoms 16 --models 4 --report page.html -o model photo.png",
    "cluster": "cluster table.csv -k 3 --label-column kind --report page.html -o clusters.csv",
}
# What each page must show beside pictures.
SECTIONS = {
    "restore": {"pictures", "uncertainty", "settings"},
    "inpaint": {"pictures", "uncertainty", "settings"},
    "recover": {"pictures", "uncertainty", "settings"},
    "recover-paper": {"pictures", "uncertainty", "atoms", "settings"},
    "upscale": {"pictures", "uncertainty", "settings"},
    "train": {"convergence", "atoms", "settings"},
    "cluster": {"graph", "eigenvalues", "classes", "settings"},
}


@pytest.fixture(scope="module")
def pages(run_program, tmp_path_factory):
    """The page of each command, made when it is first asked for."""
    folder = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(0)
    rows, columns = np.mgrid[:96, :128]
    photo = 128 + 60 * np.sin(rows / 7) * np.cos(columns / 9) + 40 * ((rows // 16 + columns // 16) % 2)
    colours = np.stack([photo, 0.8 * photo + 20, 255 - photo], axis=2)
    Image.fromarray(colours.clip(0, 255).astype(np.uint8)).save(folder / "photo.png")
    noisy = (colours + 25 * rng.standard_normal(colours.shape)).clip(0, 255)
    Image.fromarray(noisy.astype(np.uint8)).save(folder / "noisy.png")
    missing = 255 * (rng.random(photo.shape) < 0.3)
    Image.fromarray(missing.astype(np.uint8)).save(folder / "mask.png")
    kinds = ["left", "right", "<b>up"]
    samples = [np.eye(3)[i % 3] + 0.1 * rng.standard_normal(3) for i in range(90)]
    table = [",".join([*map(str, sample), kinds[i % 3]]) for i, sample in enumerate(samples)]
    (folder / "table.csv").write_text("\n".join(["a,b,c,kind", *table]))
    run_program("sense photo.png --luma -o z.npz", folder)

    def page(name):
        path = folder / f"{name}.html"
        if not path.exists():
            run_program(f"{PAGES[name]} --force", folder)
            (folder / "page.html").rename(path)
        return path

    return page


@pytest.fixture(scope="module")
def demo(run_program, tmp_path_factory):
    """The folder of the demo."""
    folder = tmp_path_factory.mktemp("demo")
    run_program("demo", folder)
    return folder / "sparsemble-demo"


def check(browser, page):
    """Every picture is there and described; the console is silent; nothing but the page was asked for."""
    pictures = browser.driver.execute_script(
        "return [...document.images].map((i) => [i.complete && i.naturalWidth > 0, i.alt])"
    )
    assert pictures
    assert all(loaded and alt for loaded, alt in pictures), pictures
    assert browser.errors() == []
    assert browser.requests() == [page.as_uri()]
    wide, seen = browser.driver.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert wide <= seen, "the page must not be wider than the window"


def colours(driver):
    """How light the ink and the paper of the page are, from 0 to 1."""
    style = "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]"
    channels = [text[text.index("(") + 1 : -1].split(",")[:3] for text in driver.execute_script(style)]
    return [sum(map(float, rgb)) / (3 * 255) for rgb in channels]


@pytest.mark.parametrize("name", PAGES)
def test_a_report_shows_everything_on_screens_of_any_width_and_fetches_nothing(browser, pages, name):
    page = pages(name)
    for width in [1200, 400]:
        driver = browser.open(page, width=width)
        check(browser, page)
    found = set(driver.execute_script("return [...document.querySelectorAll('section')].map((s) => s.id)"))
    assert found == SECTIONS[name]
    command = driver.execute_script("return document.querySelector('#settings code').textContent")
    assert command == f"sparsemble {PAGES[name]} --force"
    assert driver.execute_script("return document.querySelectorAll('h1').length") == 1


@pytest.mark.parametrize("name", ["restore", "train", "cluster"])
def test_a_report_is_dark_where_the_reader_wants_it(browser, pages, name):
    ink, paper = colours(browser.open(pages(name), dark=True))
    assert ink > 0.8 > 0.2 > paper
    ink, paper = colours(browser.open(pages(name)))
    assert paper > 0.8 > 0.2 > ink


def test_the_divider_moves_by_mouse_and_by_keyboard(browser, pages):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    driver = browser.open(pages("restore"))
    stage = driver.find_element("css selector", ".layers")
    split = driver.find_element("css selector", ".split")

    def at():
        clip = "return getComputedStyle(document.querySelector('.layer.left')).clipPath.match(/([.0-9]+)%/)"
        place = float(driver.execute_script("return arguments[0].value", split))
        hidden = float((driver.execute_script(clip) or [0, 0])[1])
        assert hidden == pytest.approx(100 - place, abs=1), "what is seen follows the slider"
        return place

    assert at() == 50
    width = stage.size["width"]
    mouse = ActionChains(driver)
    # The line itself is dragged, then the picture is clicked beside it.
    mouse.move_to_element(stage).click_and_hold().move_by_offset(int(0.25 * width), 20).release().perform()
    assert at() == pytest.approx(75, abs=1)
    mouse.move_to_element_with_offset(stage, int(-0.3 * width), 10).click().perform()
    assert at() == pytest.approx(20, abs=1)
    split.send_keys(Keys.ARROW_RIGHT * 3)
    assert at() == pytest.approx(23, abs=1)
    split.send_keys(Keys.END)
    assert at() == 100
    assert "% before" in split.get_attribute("aria-valuetext")
    assert browser.errors() == []


def test_pictures_can_be_chosen_zoomed_and_dragged(browser, pages):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select

    driver = browser.open(pages("restore"))
    stage = driver.find_element("css selector", ".layers")

    def view():
        names = ["--zoom", "--x", "--y"]
        return [
            float(driver.execute_script("return arguments[0].style.getPropertyValue(arguments[1])", stage, n))
            for n in names
        ]

    def shown():
        return [
            layer.get_attribute("data-name")
            for layer in driver.find_elements("css selector", ".layer.left, .layer.right")
        ]

    assert [name.split(",")[0] for name in shown()] == ["before", "restored"]
    Select(driver.find_elements("css selector", ".tools select")[1]).select_by_index(2)
    assert shown()[1] == "original"
    buttons = driver.find_elements("css selector", ".zooms button")
    buttons[2].click()
    assert view() == [4, -1.5, -1.5]
    assert [button.get_attribute("aria-pressed") for button in buttons] == ["false", "false", "true", "false"]
    # By mouse, by the arrow keys, and never beyond the border.
    mouse = ActionChains(driver)
    mouse.move_to_element_with_offset(stage, -100, 0).click_and_hold().move_by_offset(
        60, 30
    ).release().perform()
    zoom, x, y = view()
    assert zoom == 4
    assert x == pytest.approx(-1.5 + 60 / stage.size["width"], abs=0.01)
    assert y == pytest.approx(-1.5 + 30 / stage.size["height"], abs=0.01)
    stage.send_keys(Keys.ARROW_LEFT * 30)
    assert view()[1] == 0
    buttons[2].send_keys("+")
    assert view()[0] == 8
    buttons[2].send_keys("0")
    assert view() == [1, 0, 0]
    assert browser.errors() == []


def test_without_scripts_the_pictures_stand_side_by_side(browser, pages):
    page = pages("restore")
    driver = browser.open(page, script=False)
    layers = driver.find_elements("css selector", ".layer")
    assert len(layers) == 3
    assert all(layer.is_displayed() for layer in layers)
    assert len({layer.location["x"] for layer in layers}) == 3
    assert driver.find_elements("css selector", ".split") == []


def test_the_page_of_a_training_names_settings_as_they_are_typed(browser, pages):
    driver = browser.open(pages("train"))
    names = [one.text for one in driver.find_elements("css selector", ".settings dt")]
    assert {"atoms", "models", "min variance"} <= set(names), names
    assert not [name for name in names if "_" in name]


def test_what_can_be_used_has_a_name_and_shows_its_focus(browser, pages):
    driver = browser.open(pages("restore"))
    unnamed = """
        const named = (e) => e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label");
        const used = [...document.querySelectorAll("button, input, select, a, [role=group]")];
        return used.filter((element) => !named(element)).length
    """
    assert driver.execute_script(unnamed) == 0
    assert driver.execute_script("return document.documentElement.lang") == "en"
    driver.execute_script("document.querySelector('.zooms button').focus({ focusVisible: true })")
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert driver.execute_script(outline) == "solid"


def test_the_demo_is_a_page_with_all_its_pictures(browser, demo):
    page = demo / "index.html"
    wide = "return [...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth)"
    for width in [1200, 400]:
        driver = browser.open(page, width=width)
        check(browser, page)
        assert driver.execute_script(wide) == [], "its tables fit the window"
    assert len(driver.find_elements("css selector", ".compare")) == 4
    links = driver.execute_script("return [...document.querySelectorAll('.cards a')].map((a) => a.hash)")
    assert links == ["#enlarge", "#recover", "#denoise", "#inpaint", "#cluster"]
    assert all(driver.find_elements("css selector", link) for link in links)
    assert page.stat().st_size < 5e6


def test_the_commands_of_the_demo_give_its_figures_again(run_program, demo):
    told = json.loads((demo / "sparsemble-demo.json").read_text())
    psnr = {task["task"]: task["answers"][-1]["psnr"] for task in told["pictures"]}
    name = demo.name
    run_program(f"upscale {name}/enlarge-small.png -o larger.png", demo.parent)
    judged = json.loads(
        run_program(f"eval larger.png --reference {name}/enlarge-original.png --shave 2 --json", demo.parent)
    )
    assert judged["mean"]["psnr"] == pytest.approx(psnr["enlarge"], abs=0.01)
    words = (
        f"restore {name}/inpaint-holes.png --task inpaint --mask {name}/inpaint-mask.png -o whole.png --json"
    )
    judged = json.loads(run_program(f"{words} --reference {name}/inpaint-original.png", demo.parent))
    assert judged["pictures"][0]["psnr"] == pytest.approx(psnr["inpaint"], abs=0.01)
    words = f"cluster {name}/digits.csv -k 10 --label-column digit -o groups.csv --json"
    judged = json.loads(run_program(words, demo.parent))
    assert judged["accuracy"] == pytest.approx(told["digits"]["accuracy"], abs=0.01)
