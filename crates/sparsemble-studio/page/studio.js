// The page: a picture comes in, a task is chosen, a job runs, its result is shown.

import * as calls from "./calls.js";
import { Brush } from "./brush.js";
import { Viewer, fit } from "./viewer.js";

const POLL = 250; // milliseconds between two questions how far a job is

const find = (id) => document.getElementById(id);
const form = find("controls");
const viewer = new Viewer();
const brush = new Brush(find("mask"), find("brush-ring"), () => paintAgain());

/** `picture`: { file, name, id, width, height, url }; `job`: its id, while it is not over. */
const state = { picture: null, job: null, shown: null, urls: [] };

const task = () => form.elements.task.value;
const tests = () => form.elements[`${task()}-test`]?.checked ?? false;
const stem = (name) => name.replace(/\.[^.]*$/, "");
const megabytes = (bytes) => `${Math.round(bytes / 2 ** 20)} MB`;
const megapixels = (pixels) => `${(pixels / 1e6).toFixed(pixels < 1e7 ? 1 : 0)} megapixels`;

// ---- the picture

async function take(file, name = file.name) {
  complain(null);
  if (file.size > calls.limits.uploadBytes) {
    complain(`${name} has ${(file.size / 2 ** 20).toFixed(1)} MB; at most ${megabytes(calls.limits.uploadBytes)} are allowed.`);
    return;
  }
  await stop();
  try {
    say(`Reading ${name}`);
    const kept = await calls.keepPicture(file);
    const url = URL.createObjectURL(await calls.picture(kept.id));
    forget();
    Object.assign(state, { picture: { ...kept, file, name, url }, shown: null });
    state.urls.push(url);
    find("original").src = url;
    find("original").alt = `The picture: ${name}`;
    await find("original").decode();
    brush.reset(kept.width, kept.height);
    find("drop-text").textContent = `${name}: ${kept.width} × ${kept.height}`;
    say(`${name} is ready`);
  } catch (error) {
    complain(`${name}: ${error.message.replace(/^the picture: /, "")}`);
  }
  refresh();
}

/** The browser may let go of pictures that are no longer shown. */
function forget() {
  state.urls.splice(0).forEach((url) => URL.revokeObjectURL(url));
}

// ---- the job

async function run() {
  complain(null);
  const { picture } = state;
  state.job = "starting";
  progress({ state: "waiting", ahead: 0, progress: 0 });
  refresh();
  find("running").scrollIntoView({ block: "nearest" });
  try {
    const job = { simulate: tests(), task: await described() };
    const started = await startedJob(job, picture);
    if (state.job !== "starting") return void calls.dismissJob(started.id); // cancelled meanwhile
    state.job = started.id;
    const ended = await watched(started);
    if (ended) await show(ended, picture, job);
  } catch (error) {
    complain(error.message);
  } finally {
    state.job = null;
    refresh();
  }
}

/** What the server is to do, in its words. */
async function described() {
  switch (task()) {
    case "enlarge":
      return { name: "enlarge", scale: Number(form.elements.scale.value) };
    case "denoise":
      return { name: "denoise", sigma: find("sigma").valueAsNumber };
    case "inpaint":
      return { name: "inpaint", mask: (await calls.keepPicture(await brush.file())).id };
    default:
      return { name: "recover", measurements: find("measurements").valueAsNumber };
  }
}

/** Starts a job; a picture that the server has dropped meanwhile is sent again. */
async function startedJob(job, picture) {
  try {
    return await calls.startJob({ ...job, picture: picture.id });
  } catch (error) {
    if (error.status !== 404) throw error;
    picture.id = (await calls.keepPicture(picture.file)).id;
    return calls.startJob({ ...job, picture: picture.id });
  }
}

/** Asks how far a job is until it is over: what came of it, or nothing if it was cancelled. */
async function watched(job) {
  const start = performance.now();
  for (;;) {
    if (job.state === "done") return job;
    if (job.state === "failed") throw new Error(job.error);
    if (job.state === "cancelled") {
      say("Cancelled");
      return null;
    }
    progress(job, performance.now() - start);
    await new Promise((wake) => setTimeout(wake, POLL));
    job = await calls.job(job.id);
  }
}

async function stop() {
  const { job } = state;
  if (!job) return;
  find("progress-text").textContent = "Stopping …";
  if (job === "starting") state.job = null;
  else await calls.dismissJob(job).catch(() => {});
  // Whoever watches the job sees that it is over.
  while (state.job) await new Promise((wake) => setTimeout(wake, 50));
}

function progress(job, milliseconds = 0) {
  const bar = find("progress");
  if (job.state === "waiting") {
    bar.removeAttribute("value");
    find("progress-text").textContent = job.ahead ? `Waiting: ${job.ahead} before this one` : "Starting …";
    return;
  }
  bar.value = job.progress;
  const left = (milliseconds / 1000) * (1 / job.progress - 1);
  const time = job.progress > 0.02 && milliseconds > 1500 ? `, about ${duration(left)} left` : "";
  find("progress-text").textContent = `${Math.floor(job.progress * 100)} %${time}`;
}

const duration = (seconds) =>
  seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;

// ---- the result

async function show(job, picture, { task: done, simulate }) {
  const { result } = job;
  const after = URL.createObjectURL(await calls.result(job.id, "after"));
  let before = picture.url;
  if (result.has_before) before = URL.createObjectURL(await calls.result(job.id, "before"));
  else if (done.name === "inpaint" && simulate) before = URL.createObjectURL(await brush.over(find("original")));
  calls.dismissJob(job.id).catch(() => {}); // the server need not keep what we have
  state.urls.push(after, before);
  const names = {
    enlarge: ["Bicubic", `Enlarged ${done.scale}×`],
    denoise: [simulate ? "With noise" : "Before", "Denoised"],
    inpaint: [simulate ? "Painted over" : "Before", "Filled in"],
    recover: ["Original", `Recovered from ${share(done.measurements)}`],
  }[done.name];
  state.shown = { task: done.name };
  find("comparison").hidden = false;
  await viewer.show({ url: before, name: names[0] }, { url: after, name: names[1] }, result);
  find("figures").replaceChildren(...figures(result, names, done.name));
  const ending = { enlarge: `x${done.scale}`, denoise: "denoised", inpaint: "filled", recover: "recovered" }[done.name];
  Object.assign(find("download"), { href: after, download: `${stem(picture.name)}-${ending}.png` });
  say(`Done in ${result.seconds.toFixed(1)} seconds`);
  // On a narrow screen it is below everything else.
  const stage = find("stage");
  if (stage.getBoundingClientRect().top > innerHeight / 2) stage.scrollIntoView();
}

function figures(result, names, name) {
  const figure = (value, meaning) => {
    const place = document.createElement("div");
    place.append(
      Object.assign(document.createElement("strong"), { textContent: value }),
      Object.assign(document.createElement("small"), { textContent: meaning }),
    );
    return place;
  };
  const psnr = (quality) => (quality.psnr === "inf" ? "identical" : `${quality.psnr.toFixed(2)} dB`);
  const of = name === "enlarge" ? "PSNR of the brightness" : "PSNR";
  const parts = [figure(`${result.width} × ${result.height}`, `in ${result.seconds.toFixed(1)} s`)];
  if (result.before) parts.push(figure(psnr(result.before), `${of}, ${names[0].toLowerCase()}`));
  if (result.after) {
    parts.push(figure(psnr(result.after), `${of}, ${names[1].toLowerCase()}`));
    parts.push(figure(result.after.ssim.toFixed(4), `SSIM, ${names[1].toLowerCase()}`));
  }
  return parts;
}

const share = (measurements) => `${Math.round((100 * measurements) / calls.limits.blockPixels)} %`;

// ---- what is seen

function refresh() {
  const { picture, job, shown } = state;
  const name = task();
  for (const options of form.querySelectorAll("fieldset[data-task]")) options.hidden = options.dataset.task !== name;
  const paints = name === "inpaint";
  find("undo").disabled = find("clear").disabled = !brush.canUndo;
  find("empty").hidden = Boolean(picture);
  find("toolbar").hidden = !picture;
  const compares = shown?.task === name;
  find("canvas-frame").hidden = !picture || compares;
  find("comparison").hidden = !compares;
  find("views").hidden = find("download").hidden = !compares;
  find("mask").hidden = !paints;
  if (picture) fit(find("original"), picture, form.ownerDocument.querySelector("[name=zoom]:checked").value);
  find("run").disabled = !picture || Boolean(job) || (paints && brush.isEmpty);
  find("repaint").hidden = !compares;
  find("cancel").hidden = find("running").hidden = !job;
  find("sigma-value").textContent = find("sigma").value;
  find("brush-value").textContent = `${find("brush").value} pixels`;
  const measured = find("measurements").valueAsNumber;
  find("measurements-value").textContent = `${share(measured)} (${measured} of ${calls.limits.blockPixels})`;
}

/** Back from the result to the mask. */
function paintAgain() {
  if (state.shown?.task === "inpaint") state.shown = null;
  refresh();
}

function say(text) {
  find("status").textContent = text;
}

function complain(text) {
  find("error").hidden = !text;
  find("error").textContent = text ?? "";
  // On a low window it may be below what is seen.
  if (text) find("error").scrollIntoView({ block: "nearest" });
}

// ---- what the user does

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!find("run").disabled) run();
});
form.addEventListener("input", refresh);
find("cancel").addEventListener("click", stop);
find("file").addEventListener("change", ({ target }) => {
  if (target.files[0]) take(target.files[0]);
  target.value = "";
});
find("brush").addEventListener("input", ({ target }) => (brush.diameter = target.valueAsNumber));
find("eraser").addEventListener("change", ({ target }) => (brush.erases = target.checked));
find("undo").addEventListener("click", () => brush.undo());
find("clear").addEventListener("click", () => brush.clear());
find("repaint").addEventListener("click", paintAgain);
find("toolbar").addEventListener("input", () => {
  const chosen = (name) => document.querySelector(`[name=${name}]:checked`).value;
  viewer.arrange(chosen("view"), chosen("zoom"));
  refresh();
});

let entered = 0; // a drag enters every element on its way
for (const [event, change] of [["dragenter", 1], ["dragleave", -1]]) {
  addEventListener(event, () => find("drop").classList.toggle("over", (entered += change) > 0));
}
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  entered = 0;
  find("drop").classList.remove("over");
  const [file] = event.dataTransfer.files;
  if (file) take(file);
  else complain("That was no file; drop a picture file.");
});
addEventListener("paste", (event) => {
  const [file] = event.clipboardData.files;
  if (file) take(file, file.name || "pasted.png");
});
addEventListener("pagehide", () => state.job && state.job !== "starting" && calls.dismissJob(state.job));

find("file-limits").textContent =
  `PNG, JPEG, TIFF, BMP, WebP or PNM, up to ${megabytes(calls.limits.uploadBytes)} and ${megapixels(calls.limits.pixels)}`;
for (const name of calls.samples) {
  const image = Object.assign(document.createElement("img"), { src: `/samples/${name}`, alt: "", loading: "lazy" });
  const button = Object.assign(document.createElement("button"), { type: "button" });
  button.append(image, stem(name));
  button.addEventListener("click", async () => take(await (await fetch(`/samples/${name}`)).blob(), name));
  find("samples").append(button);
}
refresh();
