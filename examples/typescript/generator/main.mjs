// A request on standard input, a response on standard output: the door of mfidlc (mfidl/plugin/plugin.proto).

import { readdirSync, readFileSync, writeFileSync } from "node:fs";

import { emitModule } from "./module.mjs";
import { Program } from "./program.mjs";
import { parseProto } from "./proto.mjs";
import { decode, encode } from "./wire.mjs";

const HERE = new URL(".", import.meta.url);
const FORMAT = 1;

export async function main() {
  const protos = ["descriptor/descriptor.proto", "plugin/plugin.proto"].map((path) =>
    readFileSync(new URL(`../../../mfidl/${path}`, HERE), "utf8"),
  );
  const { messages } = parseProto(protos);
  const request = decode(messages.get("mfidl.plugin.Request"), readFileSync(0));
  if (request.format !== FORMAT || request.program.format !== FORMAT)
    throw new Error(`request format ${request.format} is unknown; this generator reads ${FORMAT}`);
  writeFileSync(1, encode(messages.get("mfidl.plugin.Response"), { format: FORMAT, ...answer(request) }));
}

function answer(request) {
  const diagnostics = [];
  const options = readOptions(request.options, diagnostics);
  const program = new Program(request.program);
  const files = [];
  for (const module of program.modules.filter((each) => each.requested)) {
    const warn = (message, span) =>
      diagnostics.push({ severity: "WARNING", message, place: { module: module.name, span } });
    files.push(...emitModule(program, module, { version: request.compiler_version, runtime: options.runtime, warn }));
  }
  if (options.runtime === undefined) files.push(...runtimeFiles());
  return { files, diagnostics };
}

function runtimeFiles() {
  const folder = new URL("../runtime/", HERE);
  const read = (name) => ({ path: name, text: readFileSync(new URL(name, folder), "utf8") });
  return readdirSync(folder).sort().map(read);
}

function readOptions(given, diagnostics) {
  const options = {};
  for (const { key, value } of given) {
    if (key === "runtime" && value !== "") options.runtime = value;
    else
      diagnostics.push({
        severity: "ERROR",
        message: `unknown option \`${key}\``,
        help: "--typescript-opt runtime=SPECIFIER imports the runtime from there, instead of writing mf.js",
      });
  }
  return options;
}
