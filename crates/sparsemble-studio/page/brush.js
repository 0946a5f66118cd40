// The mask: painted on a canvas as large as the picture, undone stroke by stroke.

const PAINT = "#ff3b6b";
const STEP = 0.5; // of the brush's diameter, for each press of an arrow

export class Brush {
  constructor(canvas, ring, changed) {
    this.canvas = canvas;
    this.ring = ring;
    this.changed = changed;
    this.paint = canvas.getContext("2d", { willReadFrequently: true });
    this.diameter = 16;
    this.erases = false;
    this.strokes = [];
    this.stroke = null;
    this.place = { x: 0, y: 0 };
    canvas.addEventListener("pointerdown", (event) => this.#press(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => this.#end());
    canvas.addEventListener("pointerleave", () => this.#hideRing());
    canvas.addEventListener("keydown", (event) => this.#key(event));
    canvas.addEventListener("keyup", (event) => event.key === " " && this.#end());
    canvas.addEventListener("focus", () => canvas.matches(":focus-visible") && this.#showRing());
    canvas.addEventListener("blur", () => (this.#end(), this.#hideRing()));
  }

  /** An empty mask for a picture of this size. */
  reset(width, height) {
    this.canvas.width = width;
    this.canvas.height = height;
    this.place = { x: width / 2, y: height / 2 };
    this.clear();
  }

  clear() {
    this.strokes = [];
    this.#redraw();
  }

  undo() {
    this.strokes.pop();
    this.#redraw();
  }

  get canUndo() {
    return this.strokes.length > 0;
  }

  /** Whether anything is painted: it may all be erased again. */
  get isEmpty() {
    if (!this.strokes.length) return true;
    const { data } = this.paint.getImageData(0, 0, this.canvas.width, this.canvas.height);
    for (let i = 3; i < data.length; i += 4) if (data[i] > 127) return false;
    return true;
  }

  /** A black picture, white where something is painted, as a PNG file. */
  file() {
    const { width, height } = this.canvas;
    const sheet = Object.assign(document.createElement("canvas"), { width, height });
    const context = sheet.getContext("2d");
    const pixels = this.paint.getImageData(0, 0, width, height);
    for (let i = 0; i < pixels.data.length; i += 4) {
      pixels.data.fill(pixels.data[i + 3] > 127 ? 255 : 0, i, i + 3);
      pixels.data[i + 3] = 255;
    }
    context.putImageData(pixels, 0, 0);
    return new Promise((done) => sheet.toBlob(done, "image/png"));
  }

  /** The picture with the paint on it. */
  over(picture) {
    const { width, height } = this.canvas;
    const sheet = Object.assign(document.createElement("canvas"), { width, height });
    const context = sheet.getContext("2d");
    context.drawImage(picture, 0, 0, width, height);
    context.drawImage(this.canvas, 0, 0);
    return new Promise((done) => sheet.toBlob(done, "image/png"));
  }

  #redraw() {
    this.paint.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.strokes.forEach((stroke) => this.#draw(stroke));
    this.changed();
  }

  #draw({ points, diameter, erases }) {
    const { paint } = this;
    paint.globalCompositeOperation = erases ? "destination-out" : "source-over";
    paint.strokeStyle = paint.fillStyle = PAINT;
    paint.lineWidth = diameter;
    paint.lineCap = paint.lineJoin = "round";
    // A line from a point to itself is none, so the first point is a disc of its own.
    const [{ x, y }, ...rest] = points;
    paint.beginPath();
    paint.arc(x, y, diameter / 2, 0, 2 * Math.PI);
    paint.fill();
    paint.beginPath();
    paint.moveTo(x, y);
    rest.forEach((point) => paint.lineTo(point.x, point.y));
    paint.stroke();
  }

  #begin() {
    this.stroke = { points: [this.place], diameter: this.diameter, erases: this.erases };
    this.strokes.push(this.stroke);
    this.#draw(this.stroke);
  }

  #go(place) {
    this.place = place;
    this.#showRing();
    if (!this.stroke) return;
    const { points, ...how } = this.stroke;
    this.#draw({ ...how, points: [points.at(-1), place] });
    points.push(place);
  }

  #end() {
    if (!this.stroke) return;
    this.stroke = null;
    this.changed();
  }

  #press(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.#go(this.#at(event));
    this.#begin();
  }

  #move(event) {
    for (const each of event.getCoalescedEvents?.() ?? []) this.#go(this.#at(each));
    this.#go(this.#at(event));
  }

  #at({ clientX, clientY }) {
    const box = this.canvas.getBoundingClientRect();
    return {
      x: ((clientX - box.left) / box.width) * this.canvas.width,
      y: ((clientY - box.top) / box.height) * this.canvas.height,
    };
  }

  #key(event) {
    const step = Math.max(1, this.diameter * STEP);
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    const move = moves[event.key];
    if (event.key === " " && !this.stroke) this.#begin();
    else if (move) {
      const within = (value, most) => Math.min(Math.max(value, 0), most);
      this.#go({
        x: within(this.place.x + move[0], this.canvas.width),
        y: within(this.place.y + move[1], this.canvas.height),
      });
    } else if (event.key !== " ") return;
    event.preventDefault();
  }

  #showRing() {
    const scale = this.canvas.clientWidth / this.canvas.width;
    const { style } = this.ring;
    style.left = `${this.place.x * scale}px`;
    style.top = `${this.place.y * scale}px`;
    style.width = style.height = `${Math.max(this.diameter * scale, 4)}px`;
    this.ring.hidden = false;
  }

  #hideRing() {
    if (!this.stroke) this.ring.hidden = true;
  }
}
