// Decodes and encodes by generated code: `node harness.mjs OUT < cases.json > results.json`. A case is {file, type,
// hex} or, to be written, {file, type, expression}; results are {value, hex} or {error, message, fault, offset, path}.
// With "damage" it tries every prefix and `damage` corruptions, and counts what they end in. For a type without a
// codec: {absent: true}.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const out = process.argv[2];
const load = (file) => import(pathToFileURL(`${out}/${file}`));
const mf = await load("mf.js");

/** As the vectors have it, but 64-bit integers as {big: text} and unions as {kind, value}: JSON has no such numbers. */
function plain(value) {
  if (value === undefined) return null;
  if (typeof value === "bigint") return { big: String(value) };
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (value instanceof Map) return [...value].map(([key, each]) => [plain(key), plain(each)]);
  if (value instanceof Set || Array.isArray(value)) return [...value].map(plain);
  if (typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
  return Number.isFinite(value) || typeof value !== "number" ? value : String(value);
}

/** A fixed sequence of numbers below `limit`: the tests are the same every time. */
let seed = 7;
const draw = (limit) => (seed = (seed * 48271) % 0x7fffffff) % limit;

function damage(codec, bytes, rounds) {
  const counts = { prefixes: 0, refused: 0, read: 0 };
  const attempt = (data) => {
    try {
      codec.decode(data);
      return true;
    } catch (error) {
      if (!(error instanceof mf.DecodeError || error instanceof mf.ValueError)) throw error;
      return false;
    }
  };
  for (let size = 0; size < bytes.length; size++) if (attempt(bytes.subarray(0, size))) counts.prefixes++;
  for (let round = 0; round < rounds && bytes.length > 0; round++) {
    const changed = Uint8Array.from(bytes);
    changed[draw(changed.length)] = draw(256);
    counts[attempt(changed) ? "read" : "refused"]++;
  }
  return counts;
}

async function run({ file, type, hex, expression, damage: rounds }) {
  const module = await load(file);
  const codec = module.$codecs[type];
  if (codec === undefined) return { absent: true };
  try {
    if (expression !== undefined) {
      const bytes = codec.encode(new Function("m", "mf", `return ${expression}`)(module, mf));
      return { hex: Buffer.from(bytes).toString("hex"), value: plain(codec.decode(bytes)) };
    }
    const bytes = Uint8Array.from(Buffer.from(hex, "hex"));
    if (rounds !== undefined) return damage(codec, bytes, rounds);
    const value = codec.decode(bytes);
    return { value: plain(value), hex: Buffer.from(codec.encode(value)).toString("hex") };
  } catch (error) {
    if (!(error instanceof mf.DecodeError || error instanceof mf.ValueError)) throw error;
    const { name, message, fault, offset, path } = error;
    return { error: name, message, fault, offset, path };
  }
}

const results = [];
for (const each of JSON.parse(readFileSync(0, "utf8"))) results.push(await run(each));
process.stdout.write(JSON.stringify(results));
