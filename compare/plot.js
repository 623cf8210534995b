"use strict";
// Plots of thousands of points for the pointer and the keyboard; page.js says what they show.
const $ = (id) => document.getElementById(id);
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

function element(tag, attributes = {}, ...children) {
  const svg = ["svg", "g", "path", "text", "circle"].includes(tag);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, content] of Object.entries(attributes)) made.setAttribute(name, content);
  made.append(...children);
  return made;
}

function niceTicks(low, high, most) {
  const raw = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw * 0.999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i <= high / step + 1e-9; i++) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

function logTicks(low, high, most) {
  for (const [factors, stride] of [[[1, 2, 5], 1], [[1, 3], 1], [[1], 1], [[1], 2], [[1], 3], [[1], 6]]) {
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
      if (power % stride === 0) ticks.push(...factors.map((factor) => Number(`${factor}e${power}`)));
    }
    const inside = ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
    if (inside.length <= most) return inside.length > 2 || high > 10 * low ? inside : niceTicks(low, high, Math.min(most, 4));
  }
  return [low, high];
}

/** A scale from `start` to `end` pixels over the finite values; values of zero stand at the start of a logarithmic one. */
function axis(values, { log, from }, start, end) {
  let low = Infinity, high = -Infinity;
  for (const number of values) {
    if (!Number.isFinite(number) || (log && number <= 0)) continue;
    low = Math.min(low, number);
    high = Math.max(high, number);
  }
  if (low > high) [low, high] = [1, 10];
  if (from !== undefined) low = Math.min(low, from);
  if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - 1, high + 1];
  const scale = log ? Math.log10 : (number) => number;
  const margin = log ? (high / low) ** 0.03 : 1.03;
  [low, high] = [log ? low / margin : low, high * margin];
  const span = scale(high) - scale(low);
  const at = (number) => start + (end - start) * (scale(Math.max(number, low)) - scale(low)) / span;
  const most = Math.floor(Math.abs(end - start) / 44);
  return { at, low, high, ticks: log ? logTicks(low, high, most) : niceTicks(low, high, Math.min(6, most)) };
}

const tooltip = $("tooltip");
function hideTooltip() {
  tooltip.hidden = true;
  document.querySelectorAll(".highlight").forEach((ring) => ring.setAttribute("visibility", "hidden"));
}

const rising = ({ x, y }) => x - y, across = ({ x }) => x;
/** The points of a curve that are some pixels apart by a measure that grows along it, and its last. */
function spaced(points, distance, measure = rising) {
  let last = -Infinity;
  return points.filter((point, i) => {
    const chosen = measure(point) - last >= distance || i === points.length - 1;
    if (chosen) last = measure(point);
    return chosen;
  });
}

/** A plot whose points answer to the pointer and the keyboard. A coordinate of Infinity stands on the border. */
class Plot {
  constructor(id, name, shapes, open) {
    this.host = $(id);
    this.name = name;
    this.shapes = shapes;
    this.openRow = open;
    for (const [attribute, content] of Object.entries({ class: "plot", tabindex: 0, role: "application", "aria-describedby": id.replace("plot", "caption") })) {
      this.host.setAttribute(attribute, content);
    }
    this.host.addEventListener("pointermove", (event) => this.point(event));
    this.host.addEventListener("pointerdown", (event) => this.point(event));
    this.host.addEventListener("pointerleave", hideTooltip);
    this.host.addEventListener("blur", hideTooltip);
    this.host.addEventListener("keydown", (event) => this.step(event));
    this.host.addEventListener("dblclick", () => this.open());
    // The first width comes from here too: asking each plot for its own would lay out the page once per plot.
    new ResizeObserver(([{ contentRect }]) => {
      if (contentRect.width === this.width) return;
      this.width = contentRect.width;
      this.draw();
    }).observe(this.host);
  }

  /** spec: points [{x, y, group, rows}], styles per group, x and y {title, log, from}, describe(point) → lines, and
   * optionally lines (join a group's points, by stairs or "straight"), border (its name), same (equal axes with their diagonal), level (a line). */
  show(spec) {
    this.spec = spec;
    this.current = null;
    const count = spec.points.length;
    this.host.setAttribute("aria-label", `${this.name}: ${count.toLocaleString("en")} points.` +
      (count ? " Arrow keys step through the points, Enter shows a point in the table." : ""));
    this.draw();
  }

  draw() {
    if (!this.width || !this.spec) return;
    const { points, same, lines } = this.spec;
    const height = Math.round(same ? Math.min(this.width, 480) : Math.max(260, Math.min(this.width * 0.6, 420)));
    const svg = element("svg", { viewBox: `0 0 ${this.width} ${height}`, "aria-hidden": "true" });
    hideTooltip();
    this.host.replaceChildren(svg);
    if (!points.length) {
      svg.append(element("text", { x: this.width / 2, y: height / 2, "text-anchor": "middle" }, "Nothing to show"));
      return;
    }
    this.frame(svg, height);
    this.pixels = points.map(({ x, y }) => ({
      x: x === Infinity ? this.box.border.x : this.x.at(x),
      y: y === Infinity ? this.box.border.y : this.y.at(y),
    }));
    this.orders = {};
    this.spec.styles.forEach((style, group) => this.marks(svg, style, group, lines));
    this.ring = element("circle", { class: "highlight", r: 8, visibility: "hidden" });
    svg.append(this.ring);
  }

  frame(svg, height) {
    const { points, x, y, same, level, border } = this.spec;
    const [xs, ys] = [points.map((point) => point.x), points.map((point) => point.y)];
    const [above, beside] = [ys.includes(Infinity) ? 26 : 0, xs.includes(Infinity) ? 26 : 0];
    const box = { left: 54, right: this.width - 14 - beside, top: 12 + above, bottom: height - 42 };
    box.border = { x: box.right + beside / 2, y: box.top - above / 2 };
    this.box = box;
    this.x = axis(same ? xs.concat(ys) : xs, x, box.left, box.right);
    this.y = axis(same ? xs.concat(ys) : ys, y, box.bottom, box.top);
    const line = (d, kind) => svg.append(element("path", { d, class: kind }));
    const write = (content, attributes) => svg.append(element("text", attributes, content));
    for (const tick of this.x.ticks) {
      line(`M${this.x.at(tick)},${box.bottom}V${box.top}`, "grid");
      write(compact.format(tick), { x: this.x.at(tick), y: box.bottom + 17, "text-anchor": "middle" });
    }
    for (const tick of this.y.ticks) {
      line(`M${box.left},${this.y.at(tick)}H${box.right}`, "grid");
      write(compact.format(tick), { x: box.left - 7, y: this.y.at(tick) + 4, "text-anchor": "end" });
    }
    if (same) line(`M${box.left},${box.bottom}L${box.right},${box.top}`, "reference");
    if (level !== undefined) line(`M${box.left},${this.y.at(level)}H${box.right}`, "reference");
    line(`M${box.left},${box.top}V${box.bottom}H${box.right}V${box.top}Z`, "axis");
    if (above) {
      line(`M${box.left},${box.top}V${box.top - above}H${box.right}V${box.top}`, "band");
      write(border, { x: box.left + 4, y: box.top - above - 2, class: "border-name" });
    }
    if (beside) {
      line(`M${box.right},${box.top}H${box.right + beside}V${box.bottom}H${box.right}`, "band");
      write(border, { transform: `translate(${this.width - 3} ${box.top + 4}) rotate(-90)`, "text-anchor": "end", class: "border-name" });
    }
    const middle = (box.left + box.right) / 2;
    const cut = (title, pixels) => title.length * 7 > pixels ? `${title.slice(0, pixels / 7)}…` : title;
    write(cut(x.title, box.right - box.left), { x: middle, y: height - 6, "text-anchor": "middle", class: "title" });
    write(cut(y.title, box.bottom - box.top), { transform: `translate(13 ${(box.top + box.bottom) / 2}) rotate(-90)`, "text-anchor": "middle", class: "title" });
  }

  /** One path for all marks of a group: thousands of points stay a handful of elements. */
  marks(svg, style, group, lines) {
    const own = this.pixels.filter((_, i) => this.spec.points[i].group === group);
    if (!own.length) return;
    if (lines) {
      const straight = `M${own.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L")}`;
      const steps = spaced(own, 1).map(({ x, y }) => `H${x.toFixed(1)}V${y.toFixed(1)}`).join("");
      const d = lines === "straight" ? straight : `M${own[0].x.toFixed(1)},${this.box.bottom}${steps}H${this.box.right}`;
      svg.append(element("path", { class: `line colour-${style.colour} dash-${style.dash}`, d }));
    }
    const marked = lines ? spaced(own, 70, lines === "straight" ? across : rising) : own;
    const d = marked.map(({ x, y }) => `M${x.toFixed(1)},${y.toFixed(1)}${this.shapes[style.shape]}`).join("");
    svg.append(element("path", { class: `mark colour-${style.colour}`, d }));
  }

  point(event) {
    if (!this.spec.points.length) return;
    const box = this.host.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let nearest = -1, distance = 30 ** 2;
    this.pixels.forEach((pixel, i) => {
      const far = (pixel.x - x) ** 2 + (pixel.y - y) ** 2;
      if (far < distance) [nearest, distance] = [i, far];
    });
    if (nearest < 0) hideTooltip();
    else this.select(nearest);
  }

  step(event) {
    const direction = { ArrowRight: "x", ArrowLeft: "x", ArrowUp: "y", ArrowDown: "y", Home: "x", End: "x" }[event.key];
    if (event.key === "Escape") hideTooltip();
    else if (event.key === "Enter") this.open();
    else if (direction && this.spec.points.length && !event.altKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const order = this.order(direction);
      const at = this.current === null ? -1 : order.indexOf(this.current);
      const next = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, Home: 0, End: order.length - 1 }[event.key];
      this.select(order[Math.max(0, Math.min(order.length - 1, next))]);
      $("announcement").textContent = this.spec.describe(this.spec.points[this.current]).join("; ");
    }
  }

  /** Points from left to right or from the bottom to the top, lines one after the other. */
  order(direction) {
    const { points, lines } = this.spec;
    const [sign, other] = direction === "x" ? [1, "y"] : [-1, "x"];
    const group = (i) => lines ? points[i].group : 0;
    const by = (i, j) => group(i) - group(j) || sign * (this.pixels[i][direction] - this.pixels[j][direction]) ||
      sign * (this.pixels[j][other] - this.pixels[i][other]);
    return this.orders[direction] ??= points.map((_, i) => i).sort(by);
  }

  select(index) {
    this.current = index;
    const { x, y } = this.pixels[index];
    hideTooltip();
    for (const [name, content] of Object.entries({ cx: x, cy: y, visibility: "visible" })) this.ring.setAttribute(name, content);
    const [first, ...rest] = this.spec.describe(this.spec.points[index]);
    tooltip.replaceChildren(element("strong", {}, first), ...rest.map((line) => element("div", {}, line)));
    tooltip.hidden = false;
    const box = this.host.getBoundingClientRect();
    const left = Math.min(box.left + x + 14, document.documentElement.clientWidth - tooltip.offsetWidth - 6);
    const below = box.top + y + 14;
    const top = below + tooltip.offsetHeight > window.innerHeight ? box.top + y - 14 - tooltip.offsetHeight : below;
    tooltip.style.left = `${Math.max(6, left)}px`;
    tooltip.style.top = `${Math.max(6, top)}px`;
  }

  open() {
    if (this.current !== null) this.openRow(this.spec.points[this.current].rows[0]);
  }
}
