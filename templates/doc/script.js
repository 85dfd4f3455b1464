"use strict";
const byId = (id) => document.getElementById(id);

function themeButton() {
  const root = document.documentElement;
  const dark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  byId("mf-theme").addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try {
      localStorage.setItem("mf-theme", root.dataset.theme);
    } catch (refused) {
      // it lasts as long as the page
    }
  });
}

function menuButton() {
  const menu = byId("mf-menu");
  const contents = byId("mf-contents");
  const show = (shown) => {
    contents.classList.toggle("shown", shown);
    menu.setAttribute("aria-expanded", String(shown));
  };
  menu.addEventListener("click", () => show(!contents.classList.contains("shown")));
  contents.addEventListener("click", (event) => event.target.closest("a") && show(false));
}

// Smaller is better; -1 is no match. The last part of a dotted name counts most.
function rank(name, wanted) {
  const whole = name.toLowerCase();
  const last = whole.slice(whole.lastIndexOf(".") + 1);
  if (last === wanted || whole === wanted) return 0;
  if (last.startsWith(wanted)) return 1;
  if (whole.startsWith(wanted)) return 2;
  if (whole.includes(wanted)) return 3;
  let at = 0;
  for (const letter of whole) if (letter === wanted[at]) at += 1;
  return at === wanted.length && wanted.length > 2 ? 4 : -1;
}

function search(entries) {
  const input = byId("mf-search");
  const list = byId("mf-results");
  let active = -1;

  const choose = (next) => {
    const items = [...list.children];
    if (active >= 0) items[active].removeAttribute("aria-selected");
    active = items.length ? (next + items.length) % items.length : -1;
    if (active < 0) return input.removeAttribute("aria-activedescendant");
    items[active].setAttribute("aria-selected", "true");
    items[active].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", items[active].id);
  };
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
  };
  const item = ([name, kind, href, module], at) => {
    const row = document.createElement("li");
    const link = document.createElement("a");
    row.id = `mf-result-${at}`;
    row.setAttribute("role", "option");
    link.href = href;
    link.tabIndex = -1;
    for (const [style, text] of [["kind", kind], ["name", name], ["module", module]]) {
      const part = document.createElement("span");
      part.className = style;
      part.textContent = text;
      link.append(part);
    }
    row.append(link);
    return row;
  };
  const update = () => {
    const wanted = input.value.trim().toLowerCase();
    if (!wanted) {
      byId("mf-found").textContent = "";
      return close();
    }
    const found = entries
      .map((entry, at) => [rank(entry[0], wanted), entry[0].length, at, entry])
      .filter(([score]) => score >= 0)
      .sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
    list.replaceChildren(...found.slice(0, 30).map(([, , , entry], at) => item(entry, at)));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    byId("mf-found").textContent = found.length ? `${found.length} found` : "Nothing found";
    if (!found.length) {
      const none = document.createElement("li");
      none.className = "none";
      none.textContent = "Nothing found";
      list.replaceChildren(none);
      active = -1;
      return;
    }
    active = -1;
    choose(0);
  };

  input.addEventListener("input", update);
  input.addEventListener("focus", () => input.value && update());
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      choose(active + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter") {
      list.children[active]?.querySelector("a")?.click();
    } else if (event.key === "Escape") {
      close();
      input.blur();
    }
  });
  list.addEventListener("click", () => {
    close();
    input.blur();
  });
  document.addEventListener("click", (event) => event.target.closest(".search") || close());
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });
  const asked = new URLSearchParams(location.search).get("q"); // a search that was sent as a link
  if (asked) {
    input.value = asked;
    update();
  }
}

function markPlace() {
  const links = new Map([...document.querySelectorAll(".contents a[href^='#']")].map((a) => [a.hash.slice(1), a]));
  const seen = new Set();
  const watch = new IntersectionObserver(
    (changes) => {
      for (const { target, isIntersecting } of changes) seen[isIntersecting ? "add" : "delete"](target.id);
      for (const [id, link] of links) link.classList.toggle("seen", seen.has(id));
    },
    { rootMargin: "-64px 0px -60% 0px" },
  );
  for (const place of document.querySelectorAll("article[id], section[id]")) watch.observe(place);
}

themeButton();
menuButton();
search(JSON.parse(byId("mf-index").textContent));
markPlace();
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((each) => (each.open = true)));
