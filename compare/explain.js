// One plan of the comparison's page, step by step: what is left to do by the plan, the model and hFF, and the best actions.
const WAYS = [["rest", "plan"], ["gsp", "GSP"], ["hff", "hFF"]];

/** Shows an explanation, columns as in explain.py, in the section `plan`. */
function showPlan(title, explained, plot, marks) {
  const steps = explained.action.map((_, i) => i);
  const left = steps.filter((i) => explained.better[i] > 0);
  const learned = explained.gsp.some((h) => h !== null);
  const decimals = (number, digits) => number === null ? "–" : number.toFixed(digits);
  const best = (i) => explained.best[i].map(([action, q]) => `${decimals(q, 2)} ${action}`);
  const ways = WAYS.filter(([name]) => explained[name].some((h) => h !== null));
  $("plan").hidden = false;
  $("plan-title").textContent = title;
  $("plan-summary").textContent = `${steps.length} steps` + (!learned ? "; no model fits, so only hFF is shown."
    : left.length ? `; ${left.length} of them, marked below, are not the greedy choice of the model.` : ", each the greedy choice of the model.");
  $("plan-caption").textContent = "What is left to do (up) before every step (across): the cost of the rest of the plan, and what the model and hFF expect.";
  $("plan-legend").replaceChildren(...ways.map(([, label], group) => element("span", {}, key(marks[group], true), label)));
  plot.show({
    points: ways.flatMap(([name], group) => steps.filter((i) => explained[name][i] !== null)
      .map((i) => ({ x: i + 1, y: explained[name][i], group, rows: [i] }))),
    styles: marks.slice(0, ways.length), lines: "straight",
    x: { title: "step", from: 1 }, y: { title: "cost to go", from: 0 },
    describe: ({ rows: [i] }) => [`${i + 1}. ${explained.action[i]}`,
      ways.map(([name, label]) => `${label} ${decimals(explained[name][i], name === "gsp" ? 1 : 0)}`).join(", "), ...best(i)],
  });
  $("step-table").tBodies[0].replaceChildren(...steps.map((i) => element("tr", explained.better[i] ? { class: "left" } : {},
    ...[i + 1, explained.rest[i], decimals(explained.gsp[i], 1), decimals(explained.hff[i], 0)].map((cell) => element("td", {}, String(cell))),
    element("td", { class: "text" }, explained.action[i] + (explained.better[i] ? ` (${explained.better[i]} better)` : "")),
    element("td", { class: "text" }, ...best(i).map((line) => element("div", {}, line))))));
  $("plan").scrollIntoView();
  $("plan-title").focus({ preventScroll: true });
}
