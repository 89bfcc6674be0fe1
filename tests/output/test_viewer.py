"""The page of a run, driven in headless Chromium by real clicks and keys."""

import base64
import io
import os
import re
import shutil
import time

import h5py
import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.cli import main
from rigidlimit.output import view_cells
from rigidlimit.output.hdf5 import RunWriter, read_run
from rigidlimit.output.plots.style import LIGHT, force_colours
from rigidlimit.output.view import write_view

WINDOW, OF_THE_PICTURE = (800, 560), (1200, 780)
"""Sizes [px]: small, since each pixel is drawn in software; of the stored picture."""

SHOWN = re.compile(r"(\d+) of (\d+) contacts shown")


def stored(path, scene, steps, *, compatible="always"):
    simulation = rl.Simulation(scene)
    writer = RunWriter.start(path, simulation, {"dt": simulation.dt})
    for k in range(steps):
        writer.add(simulation.step(compatible=compatible == "always" or k + 1 in compatible))
    writer.finish()
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("viewer")


@pytest.fixture(scope="module")
def pyramid(folder):
    """84 spheres that fall into place: 8 steps."""
    return stored(folder / "pyramid.h5", rl.scenes.pyramid(base=6), 8)


@pytest.fixture(scope="module")
def beam(folder):
    """Compatible forces 2, 6, 2; in the first of three steps they were not computed."""
    scene = rl.scenes.beam(stiffness=(1, 3, 1))
    return stored(folder / "beam.h5", scene, 3, compatible=(2, 3))


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """Headless Chromium with WebGL in software."""

    def missing(reason):
        # in continuous integration nothing may be skipped silently
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)

    try:
        from selenium import webdriver
    except ImportError:
        missing("selenium is not installed: pip install rigidlimit[test]")
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and chromedriver):
        missing("chromium is not installed: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        "headless=new",
        "no-sandbox",
        "disable-quic",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        "disable-dev-shm-usage",
        "use-gl=angle",
        "use-angle=swiftshader",
        "enable-unsafe-swiftshader",
        "force-color-profile=srgb",
        f"window-size={WINDOW[0]},{WINDOW[1]}",
        f"user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(chromedriver)
    browser = webdriver.Chrome(options, service)
    resize(browser, WINDOW)
    yield browser
    browser.quit()


def resize(driver, size):
    """The page's own size, whatever the frame of the window takes."""
    metrics = dict(width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


@pytest.fixture
def large(driver):
    """As large as the stored picture was taken."""
    resize(driver, OF_THE_PICTURE)
    yield
    resize(driver, WINDOW)


AS_LOADED = """
function set(input, value, event) {
  input.value = value;
  input.dispatchEvent(new Event(event));
}
const of = (id) => document.getElementById(id);
of("card-close").click();
of("method-compatible").disabled = false;
of("method-compatible").click();
set(of("step"), of("step").max, "input");
set(of("threshold"), 0, "input");
set(of("style"), "branches", "change");
set(of("speed"), 12, "change");
for (const cut of document.querySelectorAll("#cut-rows input"))
  set(cut, cut.id.endsWith("low") ? cut.min : cut.max, "input");
"""
"""Puts a page back to how it begins, but for what it is seen from, theme and opacity."""


class Page:
    """A page as its reader uses it: ``click``, ``keys``, ``text``; ``ask`` looks inside."""

    def __init__(self, driver, run, *, again=False):
        """again: the page that the test before has left, where it was of the same run: to load one
        takes seconds of drawing in software."""
        self.driver = driver
        driver.get_log("browser")
        path = run.with_suffix(".html")
        if again and driver.current_url == path.as_uri():
            driver.execute_script(AS_LOADED)
            last = f"step {read_run(run)[-1].number}"
            self.wait(lambda: self.text("number") == last and self.shown()[0] > 0)
            return
        driver.get(write_view(read_run(run), path).as_uri())
        self.wait(lambda: self.ask("!!window.rigidlimitViewer"))

    def wait_for_a_frame(self):
        """Until what was asked for before is on the screen."""
        self.driver.execute_async_script(
            "const then = arguments[0];"
            "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(then)))"
        )

    def wait(self, condition, seconds=30):
        # generous: software WebGL on a busy machine; a failure is a hang, not slowness
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, (
                f"not within {seconds} s; the page says: {self.text('message')!r}, "
                f"{self.driver.get_log('browser')}"
            )
            time.sleep(0.02)

    def ask(self, expression):
        return self.driver.execute_script(f"return {expression}")

    def element(self, name):
        return self.driver.find_element("id", name)

    def text(self, name):
        return self.element(name).text

    def click(self, name):
        self.element(name).click()

    def keys(self, name, *keys):
        self.element(name).send_keys(*keys)

    def click_at(self, x, y):
        from selenium.webdriver.common.actions.action_builder import ActionBuilder

        actions = ActionBuilder(self.driver, duration=0)
        actions.pointer_action.move_to_location(round(x), round(y)).click()
        actions.perform()

    def choose(self, method):
        self.driver.find_element("css selector", f"label:has(#method-{method})").click()

    def shown(self):
        found = SHOWN.search(self.text("shown"))
        return int(found[1]), int(found[2])

    def picked(self):
        return int(self.text("contact-index").split()[0])

    def number(self, name):
        return float(self.text(name).split()[0])

    def picture(self):
        """(height, width, 3) of 0..255, as on the screen."""
        from PIL import Image

        png = self.driver.get_screenshot_as_png()
        return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), float)

    def errors(self):
        return [e["message"] for e in self.driver.get_log("browser") if e["level"] == "SEVERE"]


def bearing(force, threshold=0.0):
    """How many contacts the page shall show: at or above the threshold, and not nothing."""
    return int(((force >= threshold) & (force > 1e-9 * force.max())).sum())


def test_load(driver, pyramid):
    """Example: the page shows the last step, complains of nothing, and asks for no other file."""
    page, run = Page(driver, pyramid), read_run(pyramid)
    assert page.text("title") == "pyramid"
    assert page.text("number") == "step 8" and page.text("time") == "t = 0.008 s"
    assert page.shown() == (bearing(run[-1].force), len(run[-1].contacts))
    assert page.text("legend-title") == "compatible contact force"
    assert page.ask("performance.getEntriesByType('resource').length") == 0
    assert not page.element("shade").is_displayed()  # nothing rubs
    assert page.errors() == []


def test_play_and_step(driver, pyramid):
    """Property: play shows every step once, in order, then stops; pause holds; keys step."""
    page, run = Page(driver, pyramid, again=True), read_run(pyramid)
    page.driver.execute_script(
        "window.seen = []; new MutationObserver(() => seen.push(document.getElementById('number')"
        ".textContent)).observe(document.getElementById('number'), {childList: true})"
    )
    page.click("play")
    page.wait(
        lambda: page.ask("seen.length") == 8 and not page.ask("rigidlimitViewer.state.playing")
    )
    assert page.ask("seen") == [f"step {k}" for k in range(1, 9)]
    from selenium.webdriver.common.keys import Keys

    # slow enough that a busy machine does not reach the end before the second click
    page.driver.execute_script("document.getElementById('speed').value = '2'")
    page.click("play")
    page.wait(lambda: 1 <= page.ask("rigidlimitViewer.state.step") < 7)
    page.click("play")
    page.wait(lambda: not page.ask("rigidlimitViewer.state.playing"))
    time.sleep(0.8)  # longer than the half second of a step
    held = page.ask("rigidlimitViewer.state.step")
    assert held < 7
    page.keys("step", Keys.HOME)
    page.wait(lambda: page.text("number") == "step 1")
    page.keys("step", Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    page.wait(lambda: page.text("number") == "step 3")
    assert page.shown()[1] == len(run[2].contacts)
    assert page.errors() == []


def test_threshold(driver, pyramid):
    """Reference: the page counts what numpy counts in the file, by number and by slider."""
    from selenium.webdriver.common.keys import Keys

    page, last = Page(driver, pyramid, again=True), read_run(pyramid)[-1]
    force, top = last.force, max(last.force.max(), last.force_classic.max())
    for quantile in (0.5, 0.9):
        value = float(np.quantile(force, quantile))
        page.keys("threshold-number", Keys.CONTROL, "a")
        page.keys("threshold-number", repr(value), Keys.ENTER)
        assert page.shown()[0] == bearing(force, value) < bearing(force)
    # a contact's own force is not below the threshold: no rounding on the way
    value = float(np.sort(force)[-3])
    page.keys("threshold-number", Keys.CONTROL, "a")
    page.keys("threshold-number", repr(value), Keys.ENTER)
    assert page.shown()[0] == bearing(force, value)
    page.keys("threshold", Keys.END)
    end = float(page.element("threshold-number").get_property("value"))
    assert end == pytest.approx(top, rel=5e-4)  # the number is shown with four digits
    # forces that are equal by symmetry tie within rounding: any of them may be above the end
    counts = [bearing(force, top * (1 + part)) for part in (1e-12, 0, -1e-12)]
    assert counts[0] <= page.shown()[0] <= counts[-1]
    page.keys("threshold", Keys.HOME)
    assert page.shown()[0] == bearing(force)
    # a real drag of the slider's thumb to the middle: a few pixels of 150 either way
    slider = page.element("threshold")
    box = slider.rect
    from selenium.webdriver import ActionChains

    ActionChains(driver).click_and_hold(slider).move_by_offset(2, 0).release().perform()
    value = page.ask("rigidlimitViewer.state.threshold")
    assert 0.3 * top < value < 0.7 * top and box["width"] > 50
    assert page.shown()[0] == bearing(force, value)


def test_switch_methods(driver, pyramid):
    """Reference: classic forces are those of the file, on the same scale as compatible ones."""
    page, last = Page(driver, pyramid, again=True), read_run(pyramid)[-1]
    ticks = page.text("tick-2")
    page.choose("classic")
    assert page.text("legend-title") == "classic contact force"
    assert page.shown() == (
        int((last.force_classic > 1e-9 * max(last.force.max(), last.force_classic.max())).sum()),
        len(last.contacts),
    )
    assert page.text("tick-2") == ticks
    page.choose("compatible")
    assert page.text("legend-title") == "compatible contact force"


@pytest.mark.parametrize("style", ["branches", "normals"])
def test_pick_reads_the_file(driver, pyramid, style):
    """Reference: a click on a contact shows the forces of the HDF5 file with all their digits."""
    page = Page(driver, pyramid, again=True)
    page.driver.find_element("css selector", f"#style option[value={style}]").click()
    with h5py.File(pyramid) as file:
        contacts = file["steps/00000008/contacts"]
        force, classic = contacts["force"][()], contacts["force_classic"][()]
        gap, body = contacts["gap"][()], contacts["body"][()]
    names = read_run(pyramid).bodies.names
    aimed = 0
    strongest = np.argsort(-force)[:8]
    for i in strongest:
        page.click_at(*page.ask(f"rigidlimitViewer.screen({i})"))
        k = page.picked()
        aimed += k == i
        assert page.number("contact-compatible") == force[k]
        assert page.number("contact-classic") == classic[k]
        assert page.number("contact-gap") == gap[k]
        shown = [re.sub("^body ", "", n) for n in page.text("card-title").split(" – ")]
        assert shown == [names[b] for b in body[k]]
    # some lie behind others as seen from the eye; most do not
    assert aimed >= 4
    page.click("card-close")
    assert not page.element("card").is_displayed()


def test_cut_planes(driver, pyramid):
    """Reference: contacts beyond a cut vanish, as counted from the file's contact points."""
    from selenium.webdriver.common.keys import Keys

    page, run = Page(driver, pyramid, again=True), read_run(pyramid)
    last = run[-1]
    page.keys("cut-z-high", *[Keys.PAGE_DOWN] * 3)
    at = page.ask("rigidlimitViewer.state.cut.high[2]")
    middle = page.ask("JSON.parse(document.getElementById('head').textContent).origin[2]")
    left = last.contacts.point[:, 2] - middle <= at
    expected = int((left & (last.force > 1e-9 * last.force.max())).sum())
    assert 0 < expected < bearing(last.force)
    assert page.shown()[0] == expected
    page.keys("cut-z-high", Keys.END)
    assert page.shown()[0] == bearing(last.force)


def test_step_without_compatible_forces(driver, beam):
    """Example: where they were not computed the page says so and offers the classic ones."""
    from selenium.webdriver.common.keys import Keys

    page = Page(driver, beam, again=True)
    assert page.shown() == (3, 3)
    page.keys("step", Keys.HOME)
    page.wait(lambda: page.text("number") == "step 1")
    assert page.text("shown") == "compatible forces were not computed in this step"
    assert not page.element("method-compatible").is_enabled()
    page.choose("classic")
    assert page.shown() == (3, 3)


def test_pick_follows_the_contact(driver, beam):
    """Example: the card stays with its contact from step to step; a click beside closes it."""
    from selenium.webdriver.common.keys import Keys

    page, run = Page(driver, beam, again=True), read_run(beam)
    page.click_at(*page.ask("rigidlimitViewer.screen(1)"))
    assert page.picked() == 1 and page.text("card-title") == "middle – beam"
    assert page.number("contact-compatible") == run[2].force[1] == pytest.approx(6, rel=1e-8)
    page.keys("step", Keys.HOME)
    page.wait(lambda: page.text("number") == "step 1")
    assert page.number("contact-classic") == run[0].force_classic[1]
    page.click_at(300, 500)
    assert not page.element("card").is_displayed()


def test_friction(driver, folder):
    """Property: of a cube that slides, an arrow and a ring at each corner, green ones, which a tick
    takes away, and a scale of mobilised friction. Reference: the card of a contact has the file's
    tangential force, and all of the friction is mobilised."""
    scene, rough = rl.Scene(name="cube"), rl.Material(friction=0.3)
    scene.add(rl.HalfSpace(), position=(0, 0, 0), material=rough)
    cube = rl.Box((0.2, 0.2, 0.2))
    scene.add(cube, position=(0, 0, 0.1), velocity=(0.5, 0, 0), mass=2, material=rough)
    run = stored(folder / "cube.h5", scene, 1)
    page = Page(driver, run)
    page.click_at(*page.ask("rigidlimitViewer.screen(0)"))
    size = np.linalg.norm(read_run(run)[-1].tangential, axis=1)
    assert page.number("contact-tangential") == size[page.picked()]
    assert page.number("contact-mobilised") == 1.0
    assert page.text("contact-sliding") == "yes"

    def green_pixels():
        light = page.ask("rigidlimitViewer.state.theme") == "light"
        green = (0, 158, 115) if light else (47, 208, 160)
        return int((np.abs(page.picture() - green).max(axis=2) < 4.0).sum())

    assert page.ask("rigidlimitViewer.rubbing") == {"arrows": 4, "rings": 4}
    assert green_pixels() > 500  # of some 2,000 in rings of 20 pixels radius
    page.click("rubbing")
    assert page.ask("rigidlimitViewer.rubbing") == {"arrows": 0, "rings": 0}
    page.wait(lambda: green_pixels() == 0)
    page.driver.find_element("css selector", "#shade option[value=mobilised]").click()
    assert page.text("legend-title").startswith("mobilised friction, compatible")
    assert [page.text(f"tick-{k}") for k in range(3)] == ["0", "0.5", "1"]
    assert not page.errors()


def test_picture(driver, large, beam, request):
    """Example: colours at known places, and all of it coarsely like the stored picture."""
    from PIL import Image

    # the scale is the largest force of either method, and classic ones depend on the solver's ways
    known = shutil.copy(beam, beam.with_name("known.h5"))
    with h5py.File(known, "a") as file:
        contacts = file["steps/00000003/contacts"]
        contacts["force_classic"][...] = contacts["force"][...]
        del contacts.parent.attrs["checksum"]
    page = Page(driver, known)
    page.wait_for_a_frame()
    picture = page.picture()
    canvas = page.element("canvas").rect
    scale = picture.shape[1] / page.ask("window.innerWidth")

    def colour(x, y):
        return picture[round(y * scale), round(x * scale)]

    colours = force_colours(LIGHT)
    for contact, share in ((0, 1 / 3), (1, 1.0), (2, 1 / 3)):
        x, y = page.ask(f"rigidlimitViewer.screen({contact})")
        expected = 255 * np.array(colours(share)[:3])
        # 2 of 256: rounding of the table's index and of the colour
        np.testing.assert_allclose(colour(x, y), expected, atol=2.5)
    np.testing.assert_allclose(colour(20, canvas["height"] - 150), [251, 251, 250], atol=1)
    # the middle, where the beam lies
    high, wide = (round(scale * canvas[side]) for side in ("height", "width"))
    middle = picture.astype(np.uint8)[round(0.4 * high) : round(0.66 * high), :wide]
    small = Image.fromarray(middle).resize((226, 51), Image.Resampling.BOX)
    small = np.asarray(small, float)
    reference = request.path.with_name("viewer_beam.png")
    if os.environ.get("RIGIDLIMIT_NEW_PICTURES"):
        Image.fromarray(small.astype(np.uint8)).save(reference, optimize=True)
    stored = np.asarray(Image.open(reference).convert("RGB"), float)
    # other rasterizers move edges by part of a pixel: below 0.5 of 256 on average; bars of twice
    # the width are 2.1, missing bodies 9.5
    assert np.abs(small - stored).mean() < 1.2


def test_shapes_and_planes_are_drawn(driver, folder):
    """Property: boxes, ellipsoids and walls leave their colours in the picture; no shader fails."""
    page = Page(driver, stored(folder / "container.h5", rl.scenes.container(8), 2))
    with_bodies = page.picture()
    from selenium.webdriver.common.keys import Keys

    page.keys("opacity", Keys.HOME)
    page.wait_for_a_frame()
    without = page.picture()
    canvas = page.element("canvas").rect
    changed = np.abs(with_bodies - without)[:, : int(canvas["width"])].max(axis=2) > 4
    # eight bodies of 12 mm in a container of 48 mm: some percent of the picture, less than half
    assert 0.01 < changed.mean() < 0.5
    floor = np.abs(without - [238, 238, 234]).max(axis=2) < 3
    assert floor.mean() > 0.05
    assert page.errors() == []


def test_themes(driver, beam):
    """Example: dark where the system is dark, and by the button."""
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": "dark"}]},
    )
    try:
        page = Page(driver, beam)
        page.wait_for_a_frame()
        corner = (-200, 20)
        assert page.picture()[corner].max() < 60
        page.click("theme")
        page.wait_for_a_frame()
        assert page.picture()[corner].min() > 230
        assert page.text("theme") == "dark theme"
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_save_picture(driver, beam):
    """Property: the button saves what is on the screen, the axes and the legend among it."""
    from PIL import Image

    page = Page(driver, beam)
    driver.execute_script(
        "window.saved = []; HTMLAnchorElement.prototype.click = function () {"
        " fetch(this.href).then((r) => r.blob()).then((b) => { const r = new FileReader();"
        " r.onload = () => window.saved.push(this.download, r.result); r.readAsDataURL(b); }); }"
    )
    page.click("save")
    page.wait(lambda: page.ask("window.saved.length") == 2)
    name, url = page.ask("window.saved")
    assert name == "beam-step-3.png"
    png = base64.b64decode(url.partition(",")[2])
    saved = Image.open(io.BytesIO(png)).convert("RGB")
    canvas = page.element("canvas").rect
    saved = np.asarray(saved.resize((int(canvas["width"]), int(canvas["height"]))), float)
    screen = page.picture()[: saved.shape[0], : saved.shape[1]]
    # the legend's box has a ground of its own on the page
    below = slice(100, None)
    assert np.abs(saved - screen)[below].mean() < 1.0
    top = 255 * np.array(force_colours(LIGHT)(1.0)[:3])
    wedge = page.element("wedge").rect
    right = saved[: int(wedge["y"] + wedge["height"]), : int(wedge["x"] + wedge["width"])]
    assert (np.abs(right - top).max(axis=2) < 12).sum() > 20


def test_dem_forces(driver, folder, capsys):
    """Reference: `compare --out` stores the DEM's forces; the page offers and shows them."""
    out, scene = folder / "rest.h5", folder / "pyramid.toml"
    scene.write_text('gallery = "pyramid"\nparameters = {base = 3, drop = 0.0}\n')
    options = ["--stiffness-scale", "1e-4", "--out", str(out), "--quiet"]  # soft is quick
    main_ends(["compare", str(scene), *options], code=0)
    assert f"written: {out}" in capsys.readouterr().out
    step = read_run(out)[-1]
    # near the limit, but not in it: the soft spheres sink by some 1e-4 of their size
    np.testing.assert_allclose(step.force_dem, step.force, atol=0.01 * step.force.max())
    assert (step.force_dem != step.force).any()
    page = Page(driver, out)
    page.choose("dem")
    assert page.text("legend-title") == "DEM contact force"
    page.click_at(*page.ask("rigidlimitViewer.screen(2)"))
    assert page.number("contact-dem") == step.force_dem[page.picked()]


def test_names_cannot_break_the_page(driver, folder):
    """Property: text of a scene is shown as text, whatever it holds."""
    scene = rl.Scene(name="</script><b>x</b>", description="a <!-- b", dt=1e-3)
    scene.add(rl.HalfSpace(), position=(0, 0, 0), name="<i>floor")
    scene.add(rl.Sphere(0.1), position=(0, 0, 0.1), name="{{three}}")
    page = Page(driver, stored(folder / "odd.h5", scene, 1))
    assert page.text("title") == "</script><b>x</b>" and page.text("description") == "a <!-- b"
    page.click_at(*page.ask("rigidlimitViewer.screen(0)"))
    assert page.text("card-title") == "<i>floor – {{three}}"
    assert page.errors() == []


def main_ends(arguments, code):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert (ended.value.code or 0) == code


def test_steps_are_thinned(pyramid):
    """Property: steps=3 of 8 takes the first, one between and the last."""
    page = write_view(read_run(pyramid), pyramid.with_suffix(".few.html"), steps=3)
    text = page.read_text(encoding="utf-8")
    assert [n for n in range(1, 9) if f'"number": {n},' in text] == [1, 5, 8]
    assert "3 of them here" in text and 'id="step-3"' not in text
    one = write_view(read_run(pyramid), pyramid.with_suffix(".one.html"), steps=1)
    assert '"number": 8,' in one.read_text(encoding="utf-8")


def test_command_opens_the_browser(pyramid, monkeypatch, capsys):
    """Example: `rigidlimit view FILE` writes beside the run, says where, and opens the page."""
    import webbrowser

    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda uri: opened.append(uri) or True)
    main_ends(["view", str(pyramid)], code=0)
    page = pyramid.with_suffix(".view.html")
    assert opened == [page.as_uri()] and f"written: {page}" in capsys.readouterr().out
    main_ends(["view", str(pyramid), "--out", str(page), "--no-open"], code=0)
    assert len(opened) == 1
    # three.js is most of a small page; it must come with its licence
    assert page.stat().st_size < 1e6 and "Permission is hereby granted" in page.read_text()


def test_faulty_files(folder, beam, capsys):
    """Missing, foreign, damaged, stopped, empty, newer: one line each, exit code 2, no page."""
    whole = beam.read_bytes()

    def copy(name, change):
        path = folder / name
        path.write_bytes(whole)
        with h5py.File(path, "a") as file:
            change(file)
        return path

    def empty(file):
        for name in list(file["steps"]):
            del file["steps"][name]

    def newer(file):
        file.attrs["schema_version"] = 99

    def holed(file):
        del file["steps/00000002/contacts/force"]

    (folder / "cut.h5").write_bytes(whole[: len(whole) // 2])
    (folder / "text.h5").write_text("not hdf5")
    RunWriter.start(folder / "stopped.h5", rl.Simulation(rl.scenes.beam()), {"dt": 1e-3})
    for path, words in (
        (folder / "none.h5", "no such file"),
        (folder / "text.h5", "damaged"),
        (folder / "cut.h5", "damaged"),
        (folder / "stopped.h5", "finish it with --resume"),
        (copy("empty.h5", empty), "no step was stored"),
        (copy("newer.h5", newer), "upgrade rigidlimit"),
        (copy("holed.h5", holed), "damaged at stored step"),
    ):
        main_ends(["view", str(path), "--no-open"], code=2)
        message = capsys.readouterr().err
        assert words in message and path.name in message and message.count("\n") == 1, message
        assert not path.with_suffix(".view.html").exists()


def test_periodic_cell(driver, folder):
    """Closed form: disks at -0.1, 0.1, 0.3 in a cell of 0.6 by 0.5 stand at 0.5, 0.1 and 0.3; the
    contact of the first across the side is drawn to an image and picked there. Its force is the
    stress times the height."""
    cell = rl.Cell((0.6, 0.5), stress=[[2.0, None], [None, None]])
    scene = rl.Scene(name="cell", dim=2, cell=cell)
    for x in (-0.1, 0.1, 0.3):
        scene.add(rl.Disk(0.1), position=(x, 0.2), mass=1.0)
    run = stored(folder / "cell.h5", scene, 1)
    step, bodies = read_run(run)[-1], scene.bodies
    shown = view_cells.within(step, bodies)
    np.testing.assert_allclose(shown.position[:3, 0], [0.5, 0.1, 0.3], atol=1e-12)
    assert len(view_cells.edges(step, 2)) == 4
    page = Page(driver, run)
    across = int(np.abs(step.contacts.normal[:, 0] + 1).argmin())
    page.click_at(*page.ask(f"rigidlimitViewer.screen({across})"))
    assert page.picked() == across
    assert page.number("contact-compatible") == pytest.approx(2.0 * 0.5, rel=1e-9)
    assert not page.errors()
