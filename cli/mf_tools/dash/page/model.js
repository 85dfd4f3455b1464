// The model of the page, made of the events of its server, which is `mf dash` or a controller: docs/dashboard.md has
// their form. Servers send rows and steps; processes, recent changes and what is only doubted are made here, once.
"use strict";

const MOST_ROWS = 10_000; // further ones are counted
const MOST_CHANGES = 200;
const POINTS = 90;
// Seconds in which a process must register again after another run of a controller has answered without it; clients keep
// it for as long.
const KEEP_OLD = 10;
const NAMED = 4; // offers that a change names
const JOINED_WITHIN = 2; // seconds

const rowKey = (row) => JSON.stringify([row.id, row.kind, row.name, row.agent]);
const { compare } = new Intl.Collator("en", { numeric: true });

class Model {
  // `clock`: seconds since 1970.
  constructor(clock = () => Date.now() / 1000) {
    this.clock = clock;
    this.server = "";
    this.run = "";
    this.processes = new Map(); // by id
    this.rows = new Map(); // the process of each, by its key
    this.doubted = new Map(); // the key of a row, and until when it stays
    this.health = new Map();
    this.changes = [];
    this.points = [];
    this.methods = [];
    this.topics = [];
    this.monitors = [];
    this.denials = [];
    this.controller = {};
    this.leftOut = 0;
    this.lastStep = 0;
    this.entries = 0;
  }

  // The server sends everything.
  all(given) {
    const again = this.run !== "" && this.run !== given.run;
    const isNew = this.run === "";
    if (again) this.lastStep = 0;
    this.server = given.server;
    this.run = given.run;
    this.leftOut = given.left_out ?? 0;
    const wanted = new Set(given.rows.map(rowKey));
    const missing = [...this.rows.keys()].filter((key) => !wanted.has(key));
    this.remember(given.steps ?? [], !isNew);
    if (again) this.doubt(missing);
    else for (const key of missing) this.remove(key);
    for (const row of given.rows) this.put(row);
    this.health = new Map(Object.entries(given.health ?? {}));
    for (const process of this.processes.values()) process.health = this.health.get(process.id) ?? {};
    this.points = [];
    this.facts({ methods: [], topics: [], monitors: [], denials: [], ...given });
  }

  // The server sends what has changed.
  change(given) {
    this.remember(given.steps ?? [], true);
    for (const key of given.gone ?? []) this.remove(rowKey(key));
    this.doubt((given.doubted ?? []).map(rowKey));
    for (const row of given.put ?? []) this.put(row);
    for (const [id, health] of Object.entries(given.health ?? {})) {
      this.health.set(id, health);
      const process = this.processes.get(id);
      if (process) process.health = health;
    }
    this.facts(given);
  }

  facts(given) {
    for (const name of ["methods", "topics", "monitors", "denials"]) if (given[name]) this[name] = given[name];
    const latest = this.points.at(-1)?.number ?? 0;
    this.points = [...this.points, ...(given.points ?? []).filter((each) => each.number > latest)].slice(-POINTS);
    if (given.controller) this.answers(given.controller);
  }

  // A controller that serves the page itself is as silent as its events are.
  lost(why) {
    if (this.server === "controller") this.answers({ ...this.controller, answers: false, trouble: why });
  }

  answers(facts) {
    const before = this.controller.answers;
    this.controller = facts;
    if (this.server !== "controller" || before === undefined || before === facts.answers) return;
    this.note({ what: facts.answers ? "answers" : "silent", id: "", name: facts.where }, this.clock());
  }

  // Removes what was not registered again in time; whether there was any.
  forgetDoubted() {
    const now = this.clock();
    const late = [...this.doubted].filter(([, until]) => until <= now).map(([key]) => key);
    for (const key of late) {
      const process = this.rows.get(key);
      this.remove(key);
      if (process) this.note({ what: "left", id: process.id, name: process.name, offers: [JSON.parse(key)[2]] }, now);
    }
    return late.length > 0;
  }

  doubt(keys) {
    for (const key of keys) if (this.rows.has(key)) this.doubted.set(key, this.clock() + KEEP_OLD);
  }

  put(row) {
    const key = rowKey(row);
    if (!this.rows.has(key) && this.rows.size >= MOST_ROWS) {
      this.leftOut += 1;
      return;
    }
    this.doubted.delete(key);
    const process = this.processes.get(row.id) ?? { id: row.id, offers: [], health: this.health.get(row.id) ?? {} };
    this.processes.set(row.id, process);
    this.rows.set(key, process);
    process.name = row.process;
    process.identity = row.identity;
    process.verified = row.verified;
    process.addresses = row.addresses;
    const { kind, name, agent, schema, weight, labels, alone } = row;
    process.offers = [...process.offers.filter((each) => each.key !== key), { key, kind, name, agent, schema, weight, labels, alone }]
      .sort((a, b) => (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : compare(a.name, b.name) || compare(a.agent, b.agent)));
  }

  remove(key) {
    this.doubted.delete(key);
    const process = this.rows.get(key);
    if (!process) {
      this.leftOut = Math.max(0, this.leftOut - 1);
      return;
    }
    this.rows.delete(key);
    process.offers = process.offers.filter((each) => each.key !== key);
    if (process.offers.length > 0) return;
    this.processes.delete(process.id);
    this.health.delete(process.id);
  }

  // Steps become changes for people. `follows`: the rows before these steps are those of the page, so that what comes back after a
  // restart of the controller has not come.
  remember(steps, follows) {
    const known = new Map();
    for (const step of steps) {
      if (step.number <= this.lastStep) continue;
      this.lastStep = step.number;
      if (step.what !== "came" && step.what !== "left") {
        this.note({ what: step.what, id: step.id, name: step.process, why: step.why }, step.at);
        continue;
      }
      const key = rowKey(step);
      const isThere = known.get(key) ?? this.rows.has(key);
      known.set(key, step.what === "came");
      if (follows && isThere === (step.what === "came")) continue;
      this.note({ what: step.what, id: step.id, name: step.process, offers: [step.name] }, step.at);
    }
  }

  // What a process offers at once is one change.
  note(entry, at) {
    const last = this.changes.at(-1);
    const continues = entry.offers && last?.what === entry.what && last.id === entry.id && at - last.at <= JOINED_WITHIN;
    const offers = [...new Set([...(continues ? last.offers : []), ...(entry.offers ?? [])])];
    const more = (continues ? last.more : 0) + Math.max(0, offers.length - NAMED);
    if (continues) this.changes.pop();
    this.entries += 1;
    this.changes.push({ ...entry, offers: offers.slice(0, NAMED), more, at, number: this.entries });
    if (this.changes.length > MOST_CHANGES) this.changes.shift();
  }
}

// The events of a stream of server-sent ones, each as a name and a text.
async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const part = (name) => lines.filter((each) => each.startsWith(`${name}: `)).map((each) => each.slice(name.length + 2)).join("\n");
      yield [part("event"), part("data")];
    }
  }
}
