// Turns pictures that stand side by side into a stage: a divider between two of them, zoom, and drag when zoomed.
"use strict";
for (const figure of document.querySelectorAll(".compare")) {
  const stage = figure.querySelector(".layers");
  const layers = [...stage.querySelectorAll(".layer")];
  const names = layers.map((layer) => layer.dataset.name);
  const tools = add(figure, "div", { className: "tools" }, stage.nextSibling);
  const alone = layers.length < 2;
  const view = { at: 50, zoom: 1, x: 0, y: 0 };
  let [left, right] = [0, alone ? 0 : Number(figure.dataset.right)];

  stage.classList.toggle("alone", alone);
  const split = alone ? null : add(stage, "input", { className: "split", type: "range", min: 0, max: 100, step: 1, value: 50 });
  split?.addEventListener("input", () => show({ at: Number(split.value) }));
  if (split) add(stage, "div", { className: "line" });
  if (layers.length > 2) {
    chooser("Left", () => left, (choice) => { left = choice; });
    chooser("Right", () => right, (choice) => { right = choice; });
  }
  const zooms = add(tools, "div", { className: "zooms" });
  zooms.setAttribute("role", "group");
  zooms.setAttribute("aria-label", "Zoom");
  const buttons = [1, 2, 4, 8].map((zoom) => {
    const button = add(zooms, "button", { type: "button", textContent: zoom === 1 ? "Fit" : `${zoom}×` });
    button.addEventListener("click", () => zoomTo(zoom));
    return [zoom, button];
  });

  function add(parent, kind, properties, before = null) {
    return parent.insertBefore(Object.assign(document.createElement(kind), properties), before);
  }

  function chooser(label, current, choose) {
    const select = add(add(tools, "label", { textContent: label }), "select", {});
    names.forEach((name, number) => add(select, "option", { value: number, textContent: name, selected: number === current() }));
    select.addEventListener("change", () => { choose(Number(select.value)); show({}); });
  }

  // Where the upper left corner of the zoomed picture is, in units of the stage: never further than its border.
  function inside(shift, zoom) { return Math.min(0, Math.max(1 - zoom, shift)); }

  function zoomTo(zoom, [across, down] = [0.5, 0.5]) {
    const grown = zoom / view.zoom;
    show({ zoom, x: across - (across - view.x) * grown, y: down - (down - view.y) * grown });
  }

  function show(change) {
    Object.assign(view, change);
    view.x = inside(view.x, view.zoom);
    view.y = inside(view.y, view.zoom);
    stage.style.setProperty("--at", `${view.at}%`);
    for (const name of ["x", "y", "zoom"]) stage.style.setProperty(`--${name}`, view[name]);
    stage.classList.toggle("zoomed", view.zoom > 1);
    const pixels = layers[right].querySelector("img").naturalWidth || stage.clientWidth;
    stage.classList.toggle("coarse", stage.clientWidth * view.zoom >= 3 * pixels);
    layers.forEach((layer, number) => {
      layer.classList.toggle("left", number === left);
      layer.classList.toggle("right", number === right && right !== left);
      layer.setAttribute("aria-hidden", number !== left && number !== right);
    });
    buttons.forEach(([zoom, button]) => button.setAttribute("aria-pressed", zoom === view.zoom));
    if (view.zoom > 1) {
      stage.tabIndex = 0;
      stage.setAttribute("role", "group");
      stage.setAttribute("aria-label", "Zoomed pictures; the arrow keys move them");
    } else {
      stage.removeAttribute("tabindex");
      stage.removeAttribute("role");
      stage.removeAttribute("aria-label");
    }
    if (split) {
      split.value = view.at;
      split.setAttribute("aria-label", `Divider: ${names[left]} on the left, ${names[right]} on the right`);
      split.setAttribute("aria-valuetext", `${Math.round(view.at)} % ${names[left]}`);
    }
  }

  // A finger or the mouse: the divider follows it, or, when zoomed, the picture does.
  let held = null;
  function place(event) {
    const box = stage.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  }
  stage.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.target === split) return;
    held = place(event);
    stage.setPointerCapture(event.pointerId);
    if (view.zoom === 1 && split) show({ at: 100 * held[0] });
  });
  stage.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [across, down] = place(event);
    if (view.zoom > 1) show({ x: view.x + across - held[0], y: view.y + down - held[1] });
    else if (split) show({ at: Math.min(100, Math.max(0, 100 * across)) });
    held = [across, down];
  });
  for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, () => { held = null; });
  stage.addEventListener("dblclick", (event) => zoomTo(view.zoom > 1 ? 1 : 4, place(event)));
  stage.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
    if (event.target !== stage || !step) return;
    event.preventDefault();
    show({ x: view.x + step[0], y: view.y + step[1] });
  });
  figure.addEventListener("keydown", (event) => {
    if (event.target.tagName === "SELECT" || event.ctrlKey || event.metaKey || event.altKey) return;
    const zoom = { "+": 2 * view.zoom, "=": 2 * view.zoom, "-": view.zoom / 2, "0": 1 }[event.key];
    if (zoom) zoomTo(Math.min(8, Math.max(1, zoom)));
  });
  show({});
}
