"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const element = name => document.getElementById(name);
  const cells = [...document.querySelectorAll("#board td")];
  const items = [...document.querySelectorAll("#plan li")];
  const last = data.steps.length;
  let shown = 0, timer = 0;

  // What a step replaces, so that it can be taken back.
  const now = data.first.slice();
  const before = data.steps.map(step => step.map(([cell, tile]) => {
    const old = [cell, now[cell]];
    now[cell] = tile;
    return old;
  }));

  const put = changes => {
    for (const [cell, tile] of changes) {
      [cells[cell].className, cells[cell].textContent] = data.tiles[tile];
    }
  };
  const show = place => {
    while (shown < place) put(data.steps[shown++]);
    while (shown > place) put(before[--shown]);
    const caption = shown ? `Step ${shown} of ${last}: ${data.actions[shown - 1]}` : "Initial state";
    element("caption").textContent = caption;
    element("board").setAttribute("aria-label", caption);
    element("place").value = shown;
    element("place").setAttribute("aria-valuetext", caption);
    for (const name of ["first", "back"]) element(name).disabled = shown === 0;
    for (const name of ["forward", "last"]) element(name).disabled = shown === last;
    items.forEach((item, index) => {
      if (index === shown - 1) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    });
    const list = element("plan"), item = items[Math.max(0, shown - 1)];
    if (item) list.scrollTop = item.offsetTop - list.offsetTop - list.clientHeight / 2;
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    element("play").textContent = "Play";
  };
  const play = () => {
    if (shown === last) show(0);
    element("play").textContent = "Pause";
    timer = setInterval(() => {
      show(Math.min(last, shown + 1));
      if (shown === last) stop();
    }, Number(element("speed").value));
  };
  const go = place => () => {
    stop();
    show(Math.max(0, Math.min(last, place())));
  };

  document.documentElement.classList.add("js");
  element("place").max = last;
  element("first").onclick = go(() => 0);
  element("back").onclick = go(() => shown - 1);
  element("forward").onclick = go(() => shown + 1);
  element("last").onclick = go(() => last);
  element("place").oninput = go(() => Number(element("place").value));
  element("play").onclick = () => timer ? stop() : play();
  element("speed").onchange = () => {
    if (timer) { stop(); play(); }
  };
  show(0);
})();
