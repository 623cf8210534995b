// The comparison's page: what the plots and the table show. The data are columns, see page.py.
const { shapes, marks, columns, explanations } = JSON.parse($("data").textContent);
const COUNT = columns.cost.length;
const PAGE = 50;
const MEASURES = { cpu_seconds: "CPU time (seconds)", wall_seconds: "wall-clock time (seconds)", expansions: "expansions", memory_mb: "memory (MB)" };
const TABLE = [
  ["domain", "Domain"], ["split", "Split"], ["problem", "Problem"], ["configuration", "Configuration"], ["status", "Status"],
  ["cost", "Cost"], ["best_known", "Best known"], ["steps", "Steps"], ["expansions", "Expansions"], ["generated", "Generated"],
  ["evaluations", "Evaluations"], ["cpu_seconds", "CPU s"], ["wall_seconds", "Wall s"], ["memory_mb", "MB"], ["objects", "Objects"],
  ["exit_code", "Exit code"], ["message", "Message"],
];
const every = Array.from({ length: COUNT }, (_, row) => row);
const isText = (name) => !Array.isArray(columns[name]);
const place = (name, row) => columns[name].index[row];
const value = (name, row) => isText(name) ? columns[name].names[place(name, row)] : columns[name][row];
const SOLVED = columns.status.names.indexOf("solved");
const solved = (row) => columns.status.index[row] === SOLVED;
const hasBest = (row) => solved(row) && value("cost", row) !== null && value("best_cost", row) !== null;
const whole = new Intl.NumberFormat("en");
const rounded = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const shown = (number) => number === null ? "–" : (Number.isInteger(number) ? whole : rounded).format(number);
const problemName = (row) => ["domain", "split", "problem"].map((name) => value(name, row)).filter(Boolean).join(" ");

function key(style, line) {
  const glyph = element("svg", { class: `key colour-${style.colour}`, width: 26, height: 14, "aria-hidden": "true" });
  if (line) glyph.append(element("path", { class: `dash-${style.dash}`, d: "M0,7H26" }));
  glyph.append(element("path", { d: `M13,7${shapes[style.shape]}` }));
  return glyph;
}

function fillSelect(select, names, all) {
  if (all) select.append(new Option(all, ""));
  names.forEach((name, i) => select.append(new Option(name || "(none)", String(i))));
}

// ---------------------------------------------------------------- plots
const UNITS = [["expansions", "expansions"], ["steps", "steps"], ["cost", "cost"], ["cpu_seconds", "s CPU"]];
function outcome(row) {
  const parts = UNITS.map(([name, unit]) => value(name, row) === null ? "" : `${shown(value(name, row))} ${unit}`);
  const first = solved(row) ? [] : [value("status", row) || "unknown"];
  return `${value("configuration", row)}: ${[...first, ...parts.filter(Boolean)].join(", ") || "solved"}`;
}

function inScope() {
  const [domain, split] = ["domain", "split"].map((name) => $(`scope-${name}`).value);
  return every.filter((row) => (domain === "" || place("domain", row) === Number(domain)) &&
    (split === "" || place("split", row) === Number(split)));
}

function drawTime() {
  const measure = $("time-measure").value;
  const configurations = columns.configuration.names;
  const curves = configurations.map(() => []);
  let missing = 0;
  const values = columns[measure];
  for (const row of inScope().filter(solved)) {
    if (values[row] === null) missing++;
    else if (!hiddenCurves.has(place("configuration", row))) curves[place("configuration", row)].push(row);
  }
  const points = curves.flatMap((rows, group) => rows.sort((a, b) => values[a] - values[b])
    .map((row, i) => ({ x: values[row], y: i + 1, group, rows: [row] })));
  plots.time.show({
    points, styles: marks.slice(0, configurations.length), lines: true,
    x: { title: MEASURES[measure], log: true }, y: { title: "problems solved", from: 0 },
    describe: ({ x, y, group, rows }) =>
      [configurations[group], `${shown(y)} solved within ${shown(x)} ${MEASURES[measure]}`, `last: ${problemName(rows[0])}`],
  });
  $("time-caption").textContent = "Problems solved (up) within the time or effort given (across, logarithmic)." +
    (missing ? ` ${shown(missing)} solved runs did not report it and are not drawn.` : "");
}

/** For each problem in scope: its row of configuration `across` and of configuration `up`, if they ran. */
function pairsInScope(across, up) {
  const pairs = new Map();
  for (const row of inScope()) {
    const configuration = place("configuration", row);
    if (configuration !== across && configuration !== up) continue;
    const problem = `${place("domain", row)} ${place("split", row)} ${place("problem", row)}`;
    if (!pairs.has(problem)) pairs.set(problem, {});
    if (configuration === across) pairs.get(problem).across = row;
    if (configuration === up) pairs.get(problem).up = row;
  }
  return [...pairs.values()];
}

/** How likely a difference at least as lopsided is, if neither is better: two-sided, ties left out. */
function signTest(fewer, more) {
  const count = fewer + more;
  let logTerm = -count * Math.LN2, tail = 0;
  for (let k = 0; k <= Math.min(fewer, more); k++) {
    tail += Math.exp(logTerm);
    logTerm += Math.log((count - k) / (k + 1));
  }
  return Math.min(1, 2 * tail);
}

function drawPair(measure, pairs, names) {
  const points = [];
  const count = { both: 0, across: 0, up: 0, neither: 0, notRun: 0, unknown: 0, less: 0, equal: 0, more: 0 };
  const logs = [];
  for (const { across, up } of pairs) {
    if (across === undefined || up === undefined) { count.notRun++; continue; }
    const kind = solved(across) ? (solved(up) ? "both" : "across") : (solved(up) ? "up" : "neither");
    count[kind]++;
    if (kind === "neither") continue;
    const [x, y] = [across, up].map((row) => solved(row) ? value(measure, row) : Infinity);
    if (x === null || y === null) { count.unknown++; continue; }
    points.push({ x, y, group: place("domain", across), rows: [across, up] });
    if (kind === "both") {
      count[y < x ? "less" : y > x ? "more" : "equal"]++;
      if (x > 0 && y > 0) logs.push(Math.log(y / x));
    }
  }
  plots[measure].show({
    points, styles: marks.slice(0, columns.domain.names.length), same: true, border: "unsolved",
    x: { title: `${measure}, ${names[0]}`, log: true }, y: { title: `${measure}, ${names[1]}`, log: true },
    describe: ({ rows }) => [problemName(rows[0]), ...rows.map(outcome)],
  });
  const chance = signTest(count.less, count.more);
  const mean = logs.length ? Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length).toFixed(3) : "–";
  const notes = [
    `Solved by both: ${shown(count.both)}; ${names[1]} (up) has fewer ${measure} in ${shown(count.less)}, equally many in ` +
    `${shown(count.equal)}, more in ${shown(count.more)}; geometric mean of up ÷ across ${mean}; two-sided sign test p = ${chance.toPrecision(2)}.`,
    `Solved only by ${names[0]}: ${shown(count.across)}, only by ${names[1]}: ${shown(count.up)} (on the border); by neither: ` +
    `${shown(count.neither)} (not drawn).`,
    count.unknown ? `${shown(count.unknown)} without a known number (not drawn).` : "",
    count.notRun ? `${shown(count.notRun)} not run by both (not drawn).` : "",
  ];
  $(`${measure}-caption`).textContent = notes.filter(Boolean).join(" ");
}

function drawPairs() {
  const chosen = ["pair-x", "pair-y"].map((id) => Number($(id).value));
  const names = chosen.map((i) => columns.configuration.names[i]);
  const pairs = pairsInScope(...chosen);
  for (const measure of ["expansions", "steps"]) drawPair(measure, pairs, names);
}

function drawQuality() {
  const chosen = $("quality-configuration").value;
  const rows = inScope().filter((row) => hasBest(row) && (chosen === "" || place("configuration", row) === Number(chosen)));
  const ratio = (cost, best) => cost === best ? 1 : best > 0 ? cost / best : Infinity;
  plots.quality.show({
    points: rows.map((row) => ({
      x: value("best_cost", row), y: ratio(value("cost", row), value("best_cost", row)), group: place("configuration", row), rows: [row],
    })),
    styles: marks.slice(0, columns.configuration.names.length), level: 1, border: "best cost is 0",
    x: { title: "best cost", log: true }, y: { title: "cost ÷ best", log: true, from: 1 },
    describe: ({ x, y, rows: [row] }) => [problemName(row), outcome(row),
      `best ${value("best_known", row) === null ? "found" : "known"} ${shown(x)}, ratio ${shown(y)}`],
  });
  $("quality-caption").textContent = "Cost of each plan over the best cost (up) by best cost (across), both logarithmic. " +
    "On the dashed line a plan is as cheap as the best; under it, cheaper.";
}

// ---------------------------------------------------------------- table
const table = { rows: every, sort: null, descending: false, page: 0, haystack: [] };

function drawHead() {
  $("result-table").tHead.rows[0].append(...TABLE.map(([name, label]) => {
    const button = element("button", { type: "button" }, label);
    const cell = element("th", { scope: "col", "aria-sort": "none", class: isText(name) ? "text" : "" }, button);
    button.addEventListener("click", () => {
      table.descending = table.sort === name && !table.descending;
      table.sort = name;
      for (const other of cell.parentNode.cells) other.setAttribute("aria-sort", "none");
      cell.setAttribute("aria-sort", table.descending ? "descending" : "ascending");
      sortTable();
    });
    return cell;
  }));
}

function drawTable() {
  const start = table.page * PAGE;
  const rows = table.rows.slice(start, start + PAGE);
  $("result-table").tBodies[0].replaceChildren(...rows.map((row) => element("tr", {}, ...TABLE.map(([name]) => isText(name)
    ? element("td", { class: `text ${name}` }, value(name, row))
    : element("td", {}, name === "steps" && row in explanations ? planButton(row) : shown(value(name, row)))))));
  $("page-position").textContent = rows.length
    ? `${shown(start + 1)}–${shown(start + rows.length)} of ${shown(table.rows.length)} results` : "No result matches";
  $("page-previous").disabled = table.page === 0;
  $("page-next").disabled = start + PAGE >= table.rows.length;
}

function planButton(row) {
  const title = `A plan of ${value("configuration", row)} for ${problemName(row)}`;
  const button = element("button", { type: "button", class: "explain", "aria-label": `${title}, ${shown(value("steps", row))} steps` }, shown(value("steps", row)));
  button.addEventListener("click", () => showPlan(title, explanations[row], plots.plan, marks));
  return button;
}

function filterTable() {
  const words = $("filter-text").value.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = ["domain", "split", "configuration", "status"].map((name) => [name, $(`filter-${name}`).value]).filter(([, i]) => i !== "");
  const texts = TABLE.map(([name]) => name).filter(isText);
  const hay = (row) => table.haystack[row] ??= texts.map((name) => value(name, row)).join("\n").toLowerCase();
  table.rows = every.filter((row) => chosen.every(([name, i]) => place(name, row) === Number(i)) &&
    words.every((word) => hay(row).includes(word)));
  sortTable();
}

/** Sorts by the chosen column, unknown values last; text columns are numbered in their order already. */
function sortTable() {
  if (table.sort !== null) {
    const numbers = isText(table.sort) ? columns[table.sort].index : columns[table.sort];
    const sign = table.descending ? -1 : 1;
    table.rows.sort((a, b) => {
      const [left, right] = [numbers[a], numbers[b]];
      if (left === null || right === null) return (left === null) - (right === null);
      return sign * (left - right) || a - b;
    });
  }
  table.page = 0;
  drawTable();
}

function showInTable(words) {
  $("filters").reset();
  $("filter-text").value = words;
  filterTable();
  $("results").scrollIntoView();
  $("filter-text").focus({ preventScroll: true });
}

function connectTable() {
  drawHead();
  drawTable();
  $("filters").addEventListener("input", filterTable);
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("reset", () => setTimeout(filterTable));
  for (const [id, change] of [["page-previous", -1], ["page-next", 1]]) {
    $(id).addEventListener("click", () => { table.page += change; drawTable(); });
  }
}

// ---------------------------------------------------------------- start
const hiddenCurves = new Set();
const plots = {};

function connectPlots() {
  const configurations = columns.configuration.names;
  for (const [id, name] of [["time", "Solved over time"], ["expansions", "Expansions"], ["steps", "Plan length"], ["quality", "Plan cost"]]) {
    plots[id] = new Plot(`${id}-plot`, name, shapes, (row) => showInTable(problemName(row)));
  }
  plots.plan = new Plot("plan-plot", "Cost to go", shapes, (step) => $("step-table").tBodies[0].rows[step].scrollIntoView({ block: "center" }));
  for (const [name, label] of Object.entries(MEASURES)) $("time-measure").append(new Option(label, name));
  for (const id of ["pair-x", "pair-y"]) fillSelect($(id), configurations);
  $("pair-y").selectedIndex = Math.min(1, configurations.length - 1);
  fillSelect($("quality-configuration"), configurations, "all configurations");
  const bounded = every.find(hasBest);
  if (bounded !== undefined) $("quality-configuration").value = String(place("configuration", bounded));
  configurations.forEach((name, i) => {
    const button = element("button", { type: "button", "aria-pressed": "true" }, key(marks[i], true), name);
    button.addEventListener("click", () => {
      if (!hiddenCurves.delete(i)) hiddenCurves.add(i);
      button.setAttribute("aria-pressed", String(!hiddenCurves.has(i)));
      drawTime();
    });
    $("time-legend").append(button);
  });
  columns.domain.names.forEach((name, i) => $("pair-legend").append(element("span", {}, key(marks[i], false), name)));
  for (const name of ["domain", "split"]) fillSelect($(`scope-${name}`), columns[name].names, "all");
  const drawAll = () => { drawTime(); drawPairs(); drawQuality(); };
  $("scope").addEventListener("change", drawAll);
  $("scope").addEventListener("submit", (event) => event.preventDefault());
  $("time-measure").addEventListener("change", drawTime);
  for (const id of ["pair-x", "pair-y"]) $(id).addEventListener("change", drawPairs);
  $("quality-configuration").addEventListener("change", drawQuality);
  drawAll();
}

function hide(selector) {
  for (const part of document.querySelectorAll(selector)) part.hidden = true;
}

// Only a table that is wider than its place says that it scrolls.
function connectHints() {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const place = target.closest(".scroll");
      place.classList.toggle("wide", place.scrollWidth > place.clientWidth);
    }
  });
  for (const part of document.querySelectorAll(".scroll[role=region], .scroll[role=region] > table")) observer.observe(part);
}

connectHints();
if (COUNT) {
  document.documentElement.classList.add("js");
  if (columns.configuration.names.length < 2) hide('#pairs, nav a[href="#pairs"]');
  if (!every.some(hasBest)) hide("#quality .scripted");
  for (const name of ["domain", "split", "configuration", "status"]) fillSelect($(`filter-${name}`), columns[name].names, "all");
  connectPlots();
  connectTable();
  $("explained-note").hidden = !Object.keys(explanations).length;
}
