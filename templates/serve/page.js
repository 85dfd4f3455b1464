// The page of `mfidlc serve`: asks the server, and shows the answers as text, never as HTML.

import { Editor, made } from "./editor.js";

const PAUSE = 250; // milliseconds without a key before a question is asked
const LARGEST = 256 * 1024; // bytes of a question, as the server takes them
const key = location.hash.slice(1);
const at = (id) => document.getElementById(id);
const status = at("status");
let files = [];
let next = 0; // the problem that F8 goes to

// Questions ------------------------------------------------------------------------------------------------

// Asks for the newest state only: one question is under way at a time, and then the last one that waited.
function asker(question, show) {
  let asking = false;
  let waits = false;
  let timer = 0;
  async function ask() {
    if (asking) {
      waits = true;
      return;
    }
    asking = true;
    try {
      show(await answerTo(question()));
    } finally {
      asking = false;
      if (waits) {
        waits = false;
        ask();
      }
    }
  }
  return {
    soon: () => {
      clearTimeout(timer);
      timer = setTimeout(ask, PAUSE);
    },
    now: ask,
  };
}

async function answerTo(question) {
  const body = JSON.stringify(question);
  if (new TextEncoder().encode(body).length > LARGEST) {
    return { failure: `the playground takes at most ${LARGEST / 1024} KiB` };
  }
  try {
    const headers = { "Content-Type": "application/json", "X-Key": key };
    const answer = await fetch("answer", { method: "POST", headers, body });
    return await answer.json();
  } catch {
    return { failure: "the playground does not answer: is mfidlc serve still running?" };
  }
}

// The schema -----------------------------------------------------------------------------------------------

const aboutSchema = asker(() => ({ ask: "schema", schema: schema.text, older: older.text }), showSchema);
const schema = new Editor(at("schema"), edited);
const older = new Editor(at("older"), edited);

function edited() {
  sessionStorage.setItem("schema", schema.text);
  sessionStorage.setItem("older", older.text);
  status.textContent = "Typing";
  aboutSchema.soon();
}

function showSchema(answer) {
  const found = answer.diagnostics ?? [];
  schema.show(found);
  list(at("problems"), found, schema);
  next = 0;
  const failed = answer.failure !== undefined || answer.files === undefined;
  document.querySelector(".right").classList.toggle("stale", failed);
  status.classList.toggle("bad", failed);
  status.textContent = answer.failure ?? counted(found);
  if (failed) return;
  files = answer.files;
  for (const language of ["cpp", "python"]) showFiles(language);
  showPictures(answer.pictures);
  at("explained").textContent = answer.explained;
  showChanges(answer);
  offer(at("type"), answer.types);
  aboutValue.now();
}

function counted(found) {
  const words = ["error", "warning"].map((word) => {
    const count = found.filter((each) => each.severity === word).length;
    return count ? `${count} ${word}${count === 1 ? "" : "s"}` : "";
  });
  return words.filter((each) => each).join(", ") || "No problems";
}

function list(element, found, editor) {
  element.replaceChildren(
    ...found.map((each) => {
      const item = made("li", each.severity);
      const button = made("button");
      const code = made("span", "code");
      button.type = "button";
      code.textContent = each.line ? `${each.code}, line ${each.line}` : each.code;
      button.append(code, ` ${each.message}`);
      for (const text of [...each.notes.map(told), each.help]) {
        if (!text) continue;
        const more = made("span", "more");
        more.textContent = text;
        button.append(more);
      }
      button.addEventListener("click", () => each.line && editor.select(each));
      item.append(button);
      return item;
    }),
  );
}

function told(note) {
  return note.line ? `${note.message}, line ${note.line}` : note.message;
}

function showFiles(language) {
  const of = files.filter((each) => each.language === language);
  offer(at(`${language}-file`), of.map((each) => each.path));
  showFile(language);
}

function showFile(language) {
  const path = at(`${language}-file`).value;
  const file = files.find((each) => each.language === language && each.path === path);
  at(`${language}-text`).textContent = file?.text ?? "";
}

function showPictures(pictures) {
  const parser = new DOMParser();
  const drawn = pictures.map((each) => parser.parseFromString(each.svg, "image/svg+xml").documentElement);
  at("pictures").replaceChildren(...drawn.map((each) => document.importNode(each, true)));
  if (!drawn.length) at("pictures").textContent = "No type has fields.";
}

function showChanges(answer) {
  const before = answer.older ?? [];
  older.show(before);
  list(at("changes"), before.length ? before : (answer.changes ?? []), before.length ? older : schema);
  const breaks = (answer.changes ?? []).some((each) => each.severity === "error");
  if (before.length) at("verdict").textContent = "The older text has errors:";
  else if (breaks) at("verdict").textContent = "The change breaks programs of the older text:";
  else if (answer.changes?.length) at("verdict").textContent = "The change breaks nothing; what to know of it:";
  else at("verdict").textContent = "Nothing breaks.";
}

// Keeps what was chosen, if it is still there.
function offer(select, names) {
  const chosen = select.value;
  select.replaceChildren(
    ...names.map((name) => {
      const option = made("option");
      option.value = option.textContent = name;
      return option;
    }),
  );
  if (names.includes(chosen)) select.value = chosen;
}

// A value --------------------------------------------------------------------------------------------------

const value = { given: "none" }; // "json", "hex": which side was typed; "none": neither, so an example is shown
const aboutValue = asker(() => {
  value.type = at("type").value;
  const question = { ask: "value", schema: schema.text, type: value.type };
  if (value.given === "json") question.json = at("json").value;
  if (value.given === "hex") question.hex = at("hex").value;
  value.asked = value.given;
  return question;
}, showValue);

function showValue(answer) {
  if (value.asked !== value.given) return;
  at("fault").textContent = answer.failure ?? "";
  at("bytes").textContent = answer.bytes ?? "";
  if (value.given !== "json" && answer.json !== undefined) at("json").value = answer.json;
  if (value.given !== "hex") at("hex").value = (answer.hex ?? "").replace(/(..)(?!$)/g, "$1 ");
  const size = (answer.hex ?? "").length / 2;
  at("size").textContent = answer.tier ? `(${answer.tier}, ${size} byte${size === 1 ? "" : "s"})` : "";
}

function ask(given) {
  value.given = given;
  aboutValue.soon();
}

// Keys and buttons -----------------------------------------------------------------------------------------

const tabs = [...document.querySelectorAll('[role="tab"]')];

function choose(tab, focus) {
  for (const each of tabs) {
    const chosen = each === tab;
    each.setAttribute("aria-selected", String(chosen));
    each.tabIndex = chosen ? 0 : -1;
    at(each.getAttribute("aria-controls")).hidden = !chosen;
  }
  sessionStorage.setItem("tab", tab.id);
  if (focus) tab.focus();
  tab.scrollIntoView({ block: "nearest", inline: "nearest" });
  older.follow();
}

const STEPS = { ArrowRight: 1, ArrowLeft: -1 };
tabs.forEach((tab, place) => {
  tab.addEventListener("click", () => choose(tab, false));
  tab.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (step) choose(tabs[(place + step + tabs.length) % tabs.length], true);
    else if (event.key === "Home") choose(tabs[0], true);
    else if (event.key === "End") choose(tabs.at(-1), true);
    else return;
    event.preventDefault();
  });
});

document.addEventListener("keydown", (event) => {
  const found = schema.problems;
  if (event.key !== "F8" || !found.length) return;
  event.preventDefault();
  next = (next + found.length) % found.length;
  schema.select(found[next]);
  next += event.shiftKey ? -1 : 1;
});

for (const language of ["cpp", "python"]) {
  at(`${language}-file`).addEventListener("change", () => showFile(language));
}
for (const button of document.querySelectorAll("[data-copies]")) {
  button.addEventListener("click", () => navigator.clipboard.writeText(at(button.dataset.copies).textContent));
}
at("type").addEventListener("change", () => ask("none"));
at("example").addEventListener("click", () => ask("none"));
at("json").addEventListener("input", () => ask("json"));
at("hex").addEventListener("input", () => ask("hex"));

// The beginning --------------------------------------------------------------------------------------------

async function begin() {
  choose(at(sessionStorage.getItem("tab") ?? "") ?? tabs[0], false);
  for (const [editor, name, file] of [[schema, "schema", "example.mfidl"], [older, "older", "older.mfidl"]]) {
    editor.text = sessionStorage.getItem(name) ?? (await (await fetch(file)).text());
  }
  status.textContent = "Asking the compiler";
  await aboutSchema.now();
}

begin();
