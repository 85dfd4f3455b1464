#include "http/page.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mf::http {
namespace {

constexpr std::string_view kHtml = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Try calls</title>
<link rel="stylesheet" href="/page.css">
<script src="/page.js" defer></script>
</head>
<body>
<header><h1>Try calls</h1><p>Services behind this relay, by their own descriptions.
<a href="/openapi.json">openapi.json</a></p></header>
<main>
<form id="call">
<label>Service <input id="service" list="services" autocomplete="off" spellcheck="false" required></label>
<datalist id="services"></datalist>
<label>Method <input id="method" list="methods" autocomplete="off" spellcheck="false" required></label>
<datalist id="methods"></datalist>
<label>Agent <input id="agent" autocomplete="off" spellcheck="false" placeholder="any"></label>
<label>Deadline <input id="deadline" value="10s" autocomplete="off"></label>
<label>Token <input id="token" type="password" autocomplete="off"></label>
<label class="wide">Arguments, as JSON <textarea id="arguments" rows="8" spellcheck="false">{}</textarea></label>
<button>Call</button>
</form>
<section aria-live="polite"><h2 id="status">No call yet</h2><pre id="answer"></pre></section>
</main>
</body>
</html>
)html";

constexpr std::string_view kStyle =
    R"css(:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
form { display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: 0.75rem; }
label { display: grid; gap: 0.25rem; }
.wide { grid-column: 1 / -1; }
input, textarea, button { font: inherit; padding: 0.4rem; }
textarea, pre { font-family: ui-monospace, monospace; font-size: 0.9rem; }
button { justify-self: start; padding: 0.4rem 1.5rem; }
pre { overflow: auto; padding: 0.75rem; border: 1px solid; border-radius: 4px; white-space: pre-wrap; overflow-wrap: anywhere; }
)css";

constexpr std::string_view kScript = R"js("use strict";
const at = (id) => document.getElementById(id);
let described = { paths: {}, components: { schemas: {} } };

// The text of a template for the arguments, from their JSON schema.
function example(schema, level = 0) {
  if (schema.$ref) schema = described.components.schemas[schema.$ref.split("/").pop()] ?? {};
  if (schema.anyOf) return example(schema.anyOf[0], level);
  if (schema.enum) return schema.enum[0];
  if (level > 6) return null;
  if (schema.type === "object") {
    const names = Object.keys(schema.properties ?? {});
    const shown = schema.maxProperties === 1 ? names.slice(0, 1) : names;
    return Object.fromEntries(shown.map((name) => [name, example(schema.properties[name], level + 1)]));
  }
  if (schema.type === "array")
    return schema.minItems ? Array(Math.min(schema.minItems, 8)).fill(example(schema.items, level + 1)) : [];
  if (schema.format === "date-time") return "1970-01-01T00:00:00Z";
  if (schema.format === "duration-in-seconds") return "0s";
  if (schema.format === "uuid") return "00000000-0000-0000-0000-000000000000";
  if (schema.format === "uint64" || schema.format === "int64") return "0";
  return { boolean: false, integer: 0, number: 0, string: "" }[schema.type] ?? null;
}

function fill(list, names) {
  at(list).replaceChildren(...[...new Set(names)].sort().map((name) => {
    const option = document.createElement("option");
    option.value = name;
    return option;
  }));
}

const calls = () => Object.keys(described.paths).map((path) => path.split("/").slice(2)).filter((p) => p[0] !== "topics");

function show(status, text) {
  at("status").textContent = status;
  at("answer").textContent = text;
}

function pretty(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}

function headers() {
  const all = {};
  if (at("token").value) all.Authorization = "Bearer " + at("token").value;
  return all;
}

async function describe() {
  const service = at("service").value.trim();
  const asked = service ? "?service=" + encodeURIComponent(service) : "";
  const answer = await fetch("/openapi.json" + asked, { headers: headers() });
  const found = answer.ok ? await answer.json() : described;
  if (service !== at("service").value.trim()) return; // another service was chosen meanwhile: its answer counts
  described = found;
  fill("services", calls().map((call) => call[0]));
  fill("methods", calls().filter((call) => call[0] === service).map((call) => call[1]));
}

function template() {
  const path = `/v1/${at("service").value.trim()}/${at("method").value.trim()}`;
  const post = described.paths[path]?.post;
  if (post) at("arguments").value = JSON.stringify(example(post.requestBody.content["application/json"].schema), null, 2);
}

async function call(event) {
  event.preventDefault();
  show("Calling …", "");
  const all = { ...headers(), "Content-Type": "application/json" };
  if (at("agent").value) all["MF-Agent"] = encodeURIComponent(at("agent").value);
  if (at("deadline").value) all["MF-Deadline"] = at("deadline").value;
  const path = `/v1/${encodeURIComponent(at("service").value.trim())}/${encodeURIComponent(at("method").value.trim())}`;
  try {
    const answer = await fetch(path, { method: "POST", headers: all, body: at("arguments").value });
    const text = await answer.text();
    show(`${answer.status} ${answer.statusText}`, pretty(text));
  } catch (failed) {
    show("No answer", String(failed));
  }
}

at("call").addEventListener("submit", call);
at("service").addEventListener("change", () => describe().then(template));
at("method").addEventListener("change", template);
at("token").addEventListener("change", () => describe());
describe();
)js";

constexpr std::array<std::pair<std::string_view, PageFile>, 3> kFiles{{
    {"/", {"text/html; charset=utf-8", kHtml}},
    {"/page.css", {"text/css; charset=utf-8", kStyle}},
    {"/page.js", {"text/javascript; charset=utf-8", kScript}},
}};

}  // namespace

const PageFile* page_file(std::string_view path) noexcept {
  const auto* const found = std::ranges::find(kFiles, path, &std::pair<std::string_view, PageFile>::first);
  return found == kFiles.end() ? nullptr : &found->second;
}

}  // namespace mf::http
