// Draws the model of the page (model.js), and follows the events of its server. All texts of peers become text nodes and
// attributes, never markup.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const STEP = 60; // rows of processes that are shown at first, and more at each click
const MOST_NODES = 12; // in each column of the picture
const MOST_TAGS = 8; // offers of a process that its row names
const SOON = 14; // days until a certificate ends
const MAILBOX = "mf.flex.Mailbox";
const AGAIN = 1000; // milliseconds until a lost server is asked again
const BUSY = 5000; // the same for one that has no room
const SILENT = 45_000; // milliseconds without an event, or a comment, after which a connection counts as dead

const BAD = ["silent", "not_serving"];
const STATES = {
  serving: ["good", "● serving"], not_serving: ["bad", "▲ not serving"], answers: ["good", "● answers"],
  silent: ["bad", "■ silent"], denied: ["soft", "○ not accepted"], unasked: ["soft", "○ not asked"],
  connected: ["good", "● connected"], stored: ["soft", "○ from the store"],
};

const state = new Model();
state.shown = STEP;
state.filter = "";
const at = (id) => document.getElementById(id);

// Elements

function element(name, facts = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(facts)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function drawn(name, facts = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(facts)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Makes the children of `parent` those of `items`; one whose text form is as before stays, with focus and selection.
function sync(parent, items, keyOf, make) {
  const before = parent.kept ?? new Map();
  const after = new Map();
  let place = parent.firstChild;
  for (const item of items) {
    const key = keyOf(item);
    const form = JSON.stringify(item);
    let kept = before.get(key);
    if (kept === undefined || kept.form !== form) {
      const node = make(item);
      if (kept !== undefined) {
        if (place === kept.node) place = place.nextSibling;
        kept.node.remove();
      }
      kept = { form, node };
    }
    before.delete(key);
    after.set(key, kept);
    if (kept.node === place) place = place.nextSibling;
    else parent.insertBefore(kept.node, place);
  }
  for (const { node } of before.values()) node.remove();
  parent.kept = after;
}

// `head`: that of its column, which a narrow page shows beside it.
function cell(head, kind, ...children) {
  const filled = children.filter((each) => each !== "");
  const made = element("td", { "data-head": head }, ...(filled.length ? [element("div", {}, ...filled)] : []));
  if (kind) made.className = kind;
  return made;
}
const few = (names, most = 4) =>
  names.length > most ? `${names.slice(0, most).join(", ")}, …\u00a0${names.length}` : names.join(", ");
const different = (values) => [...new Set(values)].filter((each) => each !== "");
const isOwn = (offer) => offer.name.startsWith("mf.");
const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function quantity(value) {
  if (value < 0.005) return "0";
  if (value >= 10_000) return `${(value / 1000).toFixed(0)} k`;
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  return seconds >= 0.001 ? `${(seconds * 1000).toFixed(1)} ms` : `${(seconds * 1e6).toFixed(0)} µs`;
}

// What the parts are made of

// Offers by full name, of one kind.
function named(kind) {
  const found = new Map();
  for (const process of state.processes.values()) {
    for (const offer of process.offers) {
      if (offer.kind !== kind || isOwn(offer)) continue;
      const one = found.get(offer.name) ?? { name: offer.name, agents: new Set(), ids: new Set(), schemas: new Set() };
      if (offer.agent) one.agents.add(offer.agent);
      one.ids.add(process.id);
      if (offer.schema) one.schemas.add(offer.schema.slice(0, 8));
      found.set(offer.name, one);
    }
  }
  return [...found.values()].sort((a, b) => compare(a.name, b.name));
}

function groups() {
  const found = new Map();
  for (const process of state.processes.values()) {
    for (const offer of process.offers) {
      const slash = offer.agent.indexOf("/");
      if (offer.name !== MAILBOX || slash < 0) continue;
      const group = offer.agent.slice(0, slash);
      found.set(group, [...(found.get(group) ?? []), offer.agent.slice(slash + 1)]);
    }
  }
  return [...found].map(([name, members]) => ({ name, members: members.sort(compare) }))
    .sort((a, b) => compare(a.name, b.name));
}

// A controller calls no process, but pings the connections over which processes are registered.
const stateOf = (process) =>
  process.health.state ?? (state.server === "controller" ? (process.verified ? "connected" : "stored") : undefined);
const isBad = (process) => BAD.includes(process.health.state);
const isSoon = (process) => process.health.days !== undefined && process.health.days < SOON;

// Drawing

function drawAll() {
  const services = named("service"), topics = named("topic"), of = groups();
  drawHead();
  drawTiles(services, topics, of);
  drawCharts();
  drawPicture(services, topics);
  drawServices(services);
  drawTopics(topics);
  at("groups-section").hidden = of.length === 0;
  sync(at("groups").tBodies[0], of, (each) => each.name,
    (each) => element("tr", {}, cell("group", "", each.name), cell("members", "", few(each.members, 12))));
  drawProcesses();
  drawChanges();
  drawDenials();
}

function drawHead() {
  const { where = "", answers, trouble, cluster, store_ok, store_reason, denied } = state.controller;
  at("where").textContent = where + (cluster ? ` · cluster ${cluster}` : "");
  const lines = [];
  if (answers === false) lines.push(`The controller does not answer: ${trouble}. What is shown was known before.`);
  if (answers && store_ok === false) lines.push(`The store of the controller fails: ${store_reason}`);
  if (denied) lines.push(`The controller does not give its status: ${denied}`);
  if (state.leftOut) lines.push(`${state.leftOut} more services and topics of processes are registered than this page shows.`);
  if (refused) lines.push(`This page is refused: ${refused}`);
  at("banner").hidden = lines.length === 0;
  at("banner").textContent = lines.join(" ");
}

function drawTiles(services, topics, of) {
  const all = [...state.processes.values()];
  const bad = all.filter(isBad).length, soon = all.filter(isSoon).length;
  const { watches, store } = state.controller;
  const tiles = [
    ["processes", all.length], ["services", services.length], ["topics", topics.length],
  ];
  if (state.server !== "controller") {
    tiles.push(["unhealthy", bad, bad ? "bad" : ""], ["certificates to renew", soon, soon ? "warn" : ""]);
  }
  if (of.length) tiles.splice(3, 0, ["groups", of.length]);
  if (watches !== undefined) tiles.push(["watches", watches]);
  if (store) tiles.push(["store", store.split(":")[0], state.controller.store_ok ? "" : "bad"]);
  sync(at("tiles"), tiles, (each) => each[0], ([name, value, kind]) =>
    element("li", kind ? { class: kind } : {}, element("b", {}, String(value)), name));
}

function drawCharts() {
  at("charts").hidden = state.monitors.length === 0;
  if (state.monitors.length === 0) return;
  const silent = state.monitors.filter((each) => each.trouble);
  at("monitors").textContent = (state.server === "controller" ? "of the controller itself" : `of ${state.monitors.length} servers`)
    + (silent.length ? `; no answer: ${few(silent.map((each) => each.name))}` : "");
  const last = state.points.at(-1) ?? {};
  const charts = [
    ["calls a second", [["calls", "plot"]], quantity(last.calls ?? 0), quantity],
    ["errors a second", [["errors", "plot second"]], quantity(last.errors ?? 0), quantity],
  ];
  if (state.points.some((each) => "p50" in each)) {
    charts.push(["p50 and p99", [["p50", "plot"], ["p99", "plot second"]],
      `${duration(last.p50) || "–"} / ${duration(last.p99) || "–"}`, duration]);
  }
  const room = at("chart-row").clientWidth || 600, gap = 16, least = 240;  // as dash.css has them
  const columns = Math.min(charts.length, Math.max(1, Math.floor((room + gap) / (least + gap))));
  const width = Math.floor((room - gap * (columns - 1)) / columns);
  at("chart-row").replaceChildren(...charts.map((each) => chart(width, ...each)));
}

function chart(width, title, lines, now, shown) {
  const height = 94, floor = 76, top = 16;
  const values = lines.flatMap(([key]) => state.points.map((each) => each[key] ?? 0));
  const most = Math.max(...values, 1e-9);
  const x = (index) => (width * (index + POINTS - state.points.length)) / (POINTS - 1);
  const y = (value) => floor - ((floor - top) * value) / most;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: ${now} now, at most ${shown(most)}` });
  svg.append(drawn("line", { class: "axis", x1: 0, x2: width, y1: floor, y2: floor }));
  svg.append(drawn("line", { class: "axis", x1: 0, x2: width, y1: top, y2: top, "stroke-dasharray": "2 4" }));
  lines.forEach(([key, kind], number) => {
    const places = state.points.map((each, index) => `${x(index).toFixed(1)},${y(each[key] ?? 0).toFixed(1)}`);
    if (places.length === 0) return;
    if (number === 0) {
      const begin = x(0).toFixed(1), end = x(state.points.length - 1).toFixed(1);
      svg.append(drawn("polygon", { class: "area", points: `${begin},${floor} ${places.join(" ")} ${end},${floor}` }));
    }
    svg.append(drawn("polyline", { class: kind, points: places.join(" ") }));
  });
  svg.append(drawn("text", { class: "small", x: 0, y: 10 }, shown(most)));
  svg.append(drawn("text", { class: "small", x: 0, y: 90 }, "3 minutes ago"));
  svg.append(drawn("text", { class: "small", x: width, y: 90, "text-anchor": "end" }, "now"));
  return element("figure", {}, element("figcaption", {}, title, element("b", {}, now)), svg);
}

// The picture has a column of the controller, one of processes by name, and one of what they offer.
function drawPicture(services, topics) {
  const width = Math.max(280, Math.floor(at("picture").clientWidth) || 600);
  const makers = new Map();
  for (const process of state.processes.values()) {
    const offers = process.offers.filter((each) => !isOwn(each));
    if (offers.length === 0) continue;
    const one = makers.get(process.name) ?? { name: process.name, ids: 0, bad: 0, to: new Map() };
    one.ids += 1;
    one.bad += isBad(process) ? 1 : 0;
    for (const key of new Set(offers.map((each) => `${each.kind} ${each.name}`))) one.to.set(key, (one.to.get(key) ?? 0) + 1);
    makers.set(process.name, one);
  }
  const offered = [...services.map((each) => ({ ...each, kind: "service" })), ...topics.map((each) => ({ ...each, kind: "topic" }))];
  const middle = [...makers.values()].sort((a, b) => b.ids - a.ids || compare(a.name, b.name)).slice(0, MOST_NODES);
  const right = offered.sort((a, b) => b.ids.size - a.ids.size || compare(a.name, b.name)).slice(0, MOST_NODES)
    .sort((a, b) => compare(a.name, b.name));
  const hidden = [];
  if (makers.size > middle.length) hidden.push(`${makers.size - middle.length} more kinds of processes`);
  if (offered.length > right.length) hidden.push(`${offered.length - right.length} more names`);
  at("picture-note").textContent = hidden.length ? `and ${hidden.join(", ")}` : "";
  const shape = JSON.stringify([width, state.controller.where, state.controller.answers,
    middle.map((each) => [each.name, each.ids, each.bad, [...each.to]]), right.map((each) => [each.name, each.ids.size])]);
  if (at("picture").dataset.shape === shape) return;
  at("picture").dataset.shape = shape;

  const narrow = width < 560;
  const rows = Math.max(middle.length, right.length, 1);
  const height = rows * 34 + 8;
  const spread = (count, index) => 4 + (height - 8) * ((index + 0.5) / Math.max(count, 1));
  const box = narrow ? { x: 0, w: width * 0.42 } : { x: width * 0.3, w: width * 0.26 };
  const out = narrow ? { x: width * 0.56, w: width * 0.44 } : { x: width * 0.68, w: width * 0.32 };
  const svg = drawn("svg", {
    viewBox: `0 0 ${width} ${height}`, role: "group",
    "aria-label": `${makers.size} kinds of processes offer ${services.length} services and ${topics.length} topics`,
  });
  const focused = document.activeElement?.getAttribute?.("data-node");
  if (!narrow) {
    const { where = "", answers } = state.controller;
    const kind = where.startsWith("relay") ? "relay" : "controller";
    for (let index = 0; index < middle.length; index += 1) {
      svg.append(edge(width * 0.18, height / 2, box.x, spread(middle.length, index), 1, "edge own"));
    }
    svg.append(node(0, height / 2, width * 0.18, kind, "", `controller${answers === false ? " bad" : ""}`, ""));
  }
  middle.forEach((from, index) => {
    right.forEach((to, other) => {
      const count = from.to.get(`${to.kind} ${to.name}`);
      if (count === undefined) return;
      svg.append(edge(box.x + box.w, spread(middle.length, index), out.x, spread(right.length, other), 1 + Math.log2(count), "edge"));
    });
  });
  middle.forEach((each, index) => svg.append(node(box.x, spread(middle.length, index), box.w, each.name || "(no name)",
    each.ids > 1 ? `×${each.ids}` : "", each.bad ? "process bad" : "process", each.name)));
  right.forEach((each, index) => svg.append(node(out.x, spread(right.length, index), out.w, each.name,
    each.ids.size > 1 ? `×${each.ids.size}` : "", each.kind, each.name)));
  at("picture").replaceChildren(svg);
  if (focused) at("picture").querySelector(`[data-node="${CSS.escape(focused)}"]`)?.focus();
}

function edge(x1, y1, x2, y2, thick, kind) {
  const bend = (x2 - x1) / 2;
  return drawn("path", { class: kind, "stroke-width": thick.toFixed(1),
    d: `M${x1.toFixed(1)},${y1.toFixed(1)} C${(x1 + bend).toFixed(1)},${y1.toFixed(1)} ${(x2 - bend).toFixed(1)},${y2.toFixed(1)} ${x2.toFixed(1)},${y2.toFixed(1)}` });
}

// `wanted`: what a click filters the processes by; empty: it is no button.
function node(x, y, width, name, count, kind, wanted) {
  const fits = Math.max(6, Math.floor((width - 20 - (count ? 34 : 0)) / 7.2));
  const made = drawn("g", { class: kind },
    drawn("title", {}, `${name} ${count}`),
    drawn("rect", { class: "node", x: x + 1, y: y - 13, width: width - 2, height: 26, rx: 6 }),
    drawn("text", { x: x + 9, y: y + 4 }, short(name, fits)));
  if (count) made.append(drawn("text", { class: "small", x: x + width - 9, y: y + 4, "text-anchor": "end" }, count));
  if (wanted) {
    made.setAttribute("role", "button");
    made.setAttribute("tabindex", "0");
    made.setAttribute("data-node", `${kind} ${wanted}`);
    made.setAttribute("aria-label", `${kind} ${name} ${count}: filter the processes`);
    const choose = () => { filterBy(wanted); at("processes").scrollIntoView(); };
    made.addEventListener("click", choose);
    made.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); }
    });
  }
  return made;
}

function schemas(of) {
  const mixed = of.length > 1 ? element("small", { class: "warn" }, "more than one") : "";
  return cell("schemas", "", element("span", { class: "mono schemas" }, few([...of].sort(), 3)), mixed);
}

function drawServices(services) {
  const table = at("services");
  table.classList.toggle("without", state.methods.length === 0);
  table.nextElementSibling.hidden = services.length > 0;
  const figures = new Map(state.methods.map((each) => [each.service, each]));
  const rows = services.map((each) => ({ name: each.name, agents: [...each.agents].sort(compare), ids: each.ids.size,
    schemas: [...each.schemas], of: figures.get(each.name) ?? null }));
  sync(table.tBodies[0], rows, (each) => each.name, (each) => element("tr", {},
    cell("service", "", each.name), cell("agents", "", few(each.agents)), cell("instances", "", String(each.ids)),
    schemas(each.schemas),
    cell("calls/s", "rates num", each.of ? quantity(each.of.calls) : ""),
    cell("errors/s", each.of?.errors ? "rates num bad" : "rates num", each.of ? quantity(each.of.errors) : ""),
    cell("p99", "rates num", each.of ? duration(each.of.p99) : "")));
}

function drawTopics(topics) {
  const table = at("topics");
  table.classList.toggle("without", state.topics.length === 0);
  table.nextElementSibling.hidden = topics.length > 0;
  const figures = new Map(state.topics.map((each) => [each.topic, each]));
  const rows = topics.map((each) => ({ name: each.name, agents: [...each.agents].sort(compare), ids: each.ids.size,
    schemas: [...each.schemas], of: figures.get(each.name) ?? null }));
  sync(table.tBodies[0], rows, (each) => each.name, (each) => element("tr", {},
    cell("topic", "", each.name), cell("agents", "", few(each.agents)), cell("publishers", "", String(each.ids)),
    schemas(each.schemas),
    cell("subscribers", "figures num", each.of ? String(each.of.subscribers) : ""),
    cell("published", "figures num", each.of ? String(each.of.published) : ""),
    cell("dropped", each.of?.dropped ? "figures num warn" : "figures num", each.of ? String(each.of.dropped) : "")));
}

function fits(process, words) {
  const text = [process.name, process.id, process.identity, stateOf(process) ?? "", ...process.addresses,
    ...process.offers.flatMap((each) => [each.name, each.agent, ...Object.values(each.labels)])].join("\n").toLowerCase();
  return words.every((each) => text.includes(each));
}

function drawProcesses() {
  at("no-health").hidden = state.server !== "controller";
  const words = state.filter.toLowerCase().split(/\s+/).filter((each) => each !== "");
  const order = (each) => (isBad(each) ? 0 : isSoon(each) ? 1 : 2);
  const all = [...state.processes.values()].filter((each) => fits(each, words))
    .sort((a, b) => order(a) - order(b) || compare(a.name, b.name) || (a.id < b.id ? -1 : 1));
  const shown = all.slice(0, state.shown);
  sync(at("instances").tBodies[0], shown, (each) => each.id, processRow);
  const said = words.length ? `${all.length} of ${state.processes.size}` : `${all.length}`;
  if (at("found").textContent !== said) at("found").textContent = said;
  at("more").hidden = shown.length === all.length;
  at("more").textContent = `Show ${Math.min(STEP, all.length - shown.length)} more of ${all.length - shown.length}`;
}

function processRow(process) {
  const [kind, text] = STATES[stateOf(process)] ?? ["soft", "○ not asked yet"];
  const states = [element("span", { class: kind }, text)];
  for (const why of process.health.why ?? []) states.push(element("small", {}, why));
  if (!process.verified) states.push(element("small", { class: "warn" }, "from the store, not registered again yet"));
  const public_ = process.offers.filter((each) => !isOwn(each));
  const of = public_.length ? public_ : process.offers;
  const offers = of.slice(0, MOST_TAGS).map((each) =>
    element("span", { class: `tag ${isOwn(each) ? "soft" : each.kind}`, title: labels(each) },
      each.agent ? `${each.name} ${each.agent}` : each.name));
  if (of.length > MOST_TAGS) offers.push(element("span", { class: "soft" }, `… ${of.length}`));
  const versions = different(process.offers.map((each) => each.labels.version ?? ""));
  const name = [process.name || "(no name)", element("small", { class: "mono" }, process.id.slice(0, 8))];
  if (versions.length) name.push(element("small", {}, `version ${versions.join(", ")}`));
  return element("tr", {}, cell("process", "", ...name), cell("state", "", ...states), cell("offers", "", ...offers),
    cell("identity", "", process.identity || element("span", { class: "soft" }, "none")),
    cell("address", "", element("span", { class: "mono" }, few(process.addresses, 3))),
    cell("certificate", isSoon(process) ? "warn" : "", remaining(process.health.days)));
}

function remaining(days) {
  if (days === undefined) return "";
  return days < 0 ? "has ended" : `${days < 10 ? days.toFixed(1) : days.toFixed(0)} days`;
}

function labels(offer) {
  const said = Object.entries(offer.labels).map(([key, value]) => `${key}=${value}`);
  return [offer.kind, offer.schema.slice(0, 8), `weight ${offer.weight}`, ...said].join(" · ");
}

const WORDS = {
  came: "came", left: "left", silent: "is silent", not_serving: "is not serving", serving: "serves again",
  answers: "answers", denied: "is not accepted, or accepts no call of this page", unasked: "is not asked",
};

function sentence(change) {
  const id = change.id ? ` ${change.id.slice(0, 8)}` : "";
  const offers = change.offers ? `: ${change.offers.join(", ")}${change.more ? `, and ${change.more} more` : ""}` : "";
  const why = change.why?.length ? `: ${change.why.join("; ")}` : "";
  return `${change.name || "(no name)"}${id} ${WORDS[change.what] ?? change.what}${offers}${why}`;
}

function drawChanges() {
  const list = at("changes");
  list.nextElementSibling.hidden = state.changes.length > 0;
  sync(list, state.changes.toReversed(), (each) => each.number, (each) => {
    const when = new Date(each.at * 1000);
    const kind = BAD.includes(each.what) ? "bad" : each.what === "left" ? "warn" : "";
    return element("li", {}, element("time", { datetime: when.toISOString() }, when.toTimeString().slice(0, 8)),
      element("span", kind ? { class: kind } : {}, sentence(each)));
  });
}

function drawDenials() {
  at("denials-section").hidden = state.denials.length === 0;
  sync(at("denials").tBodies[0], state.denials.toReversed(), (each) => each.number, (each) => {
    const when = new Date(each.at * 1000);
    const wish = [each.action, each.object, each.agent && `for ${each.agent}`, each.address && `at ${each.address}`];
    return element("tr", {}, cell("time", "", element("time", { datetime: when.toISOString() }, when.toTimeString().slice(0, 8))),
      cell("identity", "", each.identity), cell("wanted to", "", wish.filter(Boolean).join(" ")),
      cell("from", "", element("span", { class: "mono" }, each.peer)));
  });
}

// What the server sends

// Read out: what an operator would want to hear of, and no more than one line at a time.
function say(changes) {
  const urgent = changes.filter((each) => BAD.includes(each.what) || each.what === "answers");
  if (urgent.length) at("said").textContent = short(urgent.map(sentence).join(". "), 300);
}

let waits = false;
function drawSoon() {
  if (waits) return;
  waits = true;
  const draw = () => { waits = false; drawAll(); };
  if (document.hidden) setTimeout(draw, 1000);
  else requestAnimationFrame(draw);
}

let refused = "";
let token = "";
let waitsForToken = () => {};

function show(text, kind) {
  const live = at("live");
  if (live.textContent !== text) live.textContent = text;
  live.className = `pill ${kind}`;
}

function take(name, given) {
  const before = state.entries;
  if (name === "all") state.all(given);
  else state.change(given);
  if (before > 0 || name === "change") say(state.changes.filter((each) => each.number > before));
  drawSoon();
}

// Follows the events until they end. Returns after how many milliseconds to do it again.
async function followOnce() {
  const given = new AbortController();
  let dead = setTimeout(() => given.abort(), SILENT);
  try {
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    const answer = await fetch("events", { headers, signal: given.signal, cache: "no-store" });
    refused = answer.ok ? "" : (await answer.text()).trim();
    at("token-form").hidden = answer.status !== 401;
    if (answer.status === 401 || answer.status === 403) {
      show("refused", "bad");
      drawSoon();
      await new Promise((resolve) => { waitsForToken = resolve; });
      return 0;
    }
    if (!answer.ok) {
      show("connecting", "bad");
      drawSoon();
      return BUSY;
    }
    show("live", "good");
    for await (const [name, data] of eventsOf(answer.body)) {
      clearTimeout(dead);
      dead = setTimeout(() => given.abort(), SILENT);
      if (name) take(name, JSON.parse(data));
    }
  } catch (failed) {
    if (!(failed instanceof TypeError || failed.name === "AbortError")) throw failed; // those are of the network
  } finally {
    clearTimeout(dead);
  }
  return AGAIN;
}

async function follow() {
  for (;;) {
    const pause = await followOnce();
    if (pause === AGAIN) {
      show("connecting", "bad");
      const before = state.entries;
      state.lost("its dashboard does not answer");
      say(state.changes.filter((each) => each.number > before));
      drawSoon();
    }
    await new Promise((resolve) => { setTimeout(resolve, pause); });
  }
}

// Controls

function filterBy(text) {
  at("filter").value = text;
  state.filter = text;
  state.shown = STEP;
  drawProcesses();
}

at("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  token = at("token").value.trim();
  at("token").value = "";
  waitsForToken();
});
at("filter").addEventListener("input", () => filterBy(at("filter").value));
at("filter").addEventListener("keydown", (event) => { if (event.key === "Escape") filterBy(""); });
at("more").addEventListener("click", () => { state.shown += STEP; drawProcesses(); });
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target === at("filter")) return;
  event.preventDefault();
  at("filter").focus();
});

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (systemIsDark.matches ? "dark" : "light")) === "dark";
function nameTheme() { at("theme").textContent = isDark() ? "Light" : "Dark"; }
const kept = localStorage.getItem("mf-dash-theme");
if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
at("theme").addEventListener("click", () => {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  localStorage.setItem("mf-dash-theme", theme);
  nameTheme();
});
systemIsDark.addEventListener("change", nameTheme);
nameTheme();
setInterval(() => { if (state.forgetDoubted()) drawSoon(); }, 500);
new ResizeObserver(() => drawSoon()).observe(at("picture"));
follow();
