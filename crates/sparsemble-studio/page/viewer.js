// Before and after: one over the other with a slider, or side by side; fitted or enlarged.

const find = (id) => document.getElementById(id);

export class Viewer {
  constructor() {
    this.place = find("comparison");
    this.split = find("split");
    this.sheet = find("before-frame").firstElementChild;
    this.zoom = "fit";
    this.split.addEventListener("input", () => this.#slide(this.split.value));
    const drag = (event) => {
      if (!this.slides || !(event.buttons & 1)) return;
      const box = this.sheet.getBoundingClientRect();
      this.#slide(((event.clientX - box.left) / box.width) * 100);
    };
    this.sheet.addEventListener("pointerdown", (event) => {
      this.sheet.setPointerCapture(event.pointerId);
      drag(event);
    });
    this.sheet.addEventListener("pointermove", drag);
    this.sheet.addEventListener("dragstart", (event) => event.preventDefault());
    this.#together(find("before-frame"), find("after-frame"));
  }

  /** Shows two pictures, `{ url, name }` each, once both are loaded. */
  async show(before, after, size) {
    this.size = size;
    for (const id of ["after-over", "after"]) find(id).src = after.url;
    find("before").src = before.url;
    find("before").alt = `Before: ${before.name}`;
    find("after").alt = `After: ${after.name}`;
    this.names = [before.name, after.name];
    await Promise.all(["before", "after", "after-over"].map((id) => find(id).decode()));
    this.#slide(50);
    this.arrange();
  }

  /** Arranges the pictures as the view and the zoom say. */
  arrange(view = this.view ?? "slider", zoom = this.zoom) {
    Object.assign(this, { view, zoom, slides: view === "slider" });
    if (!this.size) return; // nothing to show yet
    find("after-figure").hidden = this.slides;
    for (const id of ["after-over", "handle", "split-row"]) find(id).hidden = !this.slides;
    this.place.classList.toggle("slides", this.slides);
    const [before, after] = this.names ?? ["", ""];
    const captions = this.slides ? [before, after] : [before];
    find("before-caption").replaceChildren(...captions.map((text) => Object.assign(document.createElement("span"), { textContent: text })));
    find("after-caption").textContent = after;
    for (const id of ["before", "after"]) fit(find(id), this.size, zoom);
  }

  #slide(percent) {
    const value = Math.min(Math.max(Number(percent), 0), 100);
    this.split.value = value;
    this.split.setAttribute("aria-valuetext", `${Math.round(value)} % before`);
    this.sheet.style.setProperty("--split", `${value}%`);
  }

  /** Two frames that are scrolled as one. */
  #together(one, other) {
    for (const [from, to] of [[one, other], [other, one]]) {
      from.addEventListener("scroll", () => {
        if (this.slides) return;
        to.scrollTop = from.scrollTop;
        to.scrollLeft = from.scrollLeft;
      });
    }
  }
}

const TALLEST = 75; // percent of the window's height, for a picture that is fitted
const LARGEST = 4; // pixels of the screen to one of the picture, for one that is fitted

/** Gives an image its size on the screen: as large as fits, or so many pixels of the screen to a pixel. */
export function fit(image, { width, height }, zoom) {
  const pixels = (times) => `${(width * times) / devicePixelRatio}px`;
  const fitted = `min(100%, ${(TALLEST * width) / height}vh, ${pixels(LARGEST)})`;
  const sheet = image.closest(".sheet");
  sheet.style.width = zoom === "fit" ? fitted : pixels(zoom);
  sheet.classList.toggle("zoomed", zoom > 1);
  Object.assign(image, { width, height });
}
