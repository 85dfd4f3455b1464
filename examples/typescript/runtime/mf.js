// What generated JavaScript stands on: types that know how to read and write their values in the tiers febird and memcpy (docs/protocol.md section 8).
// No dependencies; Node 18 and browsers. Values: bool boolean; i8..u32, f32, f64 number; 64-bit integers, timestamps and durations bigint; string; bytes
// Uint8Array; uuid its canonical text; list and array Array; set Set; map Map; T? the value or undefined; enum and flags their number; union {kind, value}.
//
// A Type has: min() smallest bytes in febird; read(reader), write(writer, value) in febird; size, readFixed(reader), writeFixed(writer, value) in memcpy where
// it has a fixed size; compare(a, b), the wire's order of keys.

const MAX_DEPTH = 64; // structs, unions and containers, one in another
const MAX_EMPTY_ITEMS = 65536; // elements that take no bytes at all
const MAX_DECODED = 128 * 1024 * 1024; // bytes of memory that one message may decode to, roughly
const U32_MAX = 0xffffffff;
const U64_MAX = 0xffffffffffffffffn;

/** The bytes are not what the schema says. `offset`: the byte; `path`: the field, such as "Hit.positions[3]". */
export class DecodeError extends Error {
  constructor(path, offset, reason) {
    super(`${path}, at byte ${offset}: ${reason}`);
    this.name = "DecodeError";
    Object.assign(this, { path, offset, reason });
  }
}

/** The value is not what the schema says, and nothing was written; or it was decoded, and breaks a constraint of the schema. */
export class ValueError extends Error {
  constructor(path, reason) {
    super(`${path}: ${reason}`);
    this.name = "ValueError";
    Object.assign(this, { path, reason });
  }
}

class Path {
  parts = [];
  depth = 0;
  enter() {
    if (++this.depth > MAX_DEPTH) this.fail(`nested deeper than ${MAX_DEPTH}`);
  }
  at(part, act) {
    this.parts.push(part);
    const result = act();
    this.parts.pop(); // not on the way of an error, which still needs the path
    return result;
  }
  toString() {
    return this.parts.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("").slice(1);
  }
  broken(reason) {
    throw new ValueError(this.toString(), reason);
  }
}

const utf8 = { decoder: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }), encoder: new TextEncoder() };

class Reader extends Path {
  constructor(bytes, root) {
    super();
    if (!(bytes instanceof Uint8Array)) throw new TypeError("decode() takes a Uint8Array");
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.pos = 0;
    this.budget = MAX_DECODED;
    this.parts.push(root);
  }
  fail(reason, offset = this.pos) {
    throw new DecodeError(this.toString(), offset, reason);
  }
  charge(size) {
    if ((this.budget -= size) < 0) this.fail("the value takes more memory than one message may");
  }
  take(size) {
    const left = this.bytes.length - this.pos;
    if (size > left) this.fail(`${size} bytes expected, ${left} left`);
    this.pos += size;
    return this.pos - size;
  }
  bit(what) {
    const byte = this.bytes[this.take(1)];
    if (byte > 1) this.fail(`${what} byte ${byte} is neither 0 nor 1`, this.pos - 1);
    return byte === 1;
  }
  /** LEB128, shortest form only, up to `max`. */
  unsigned(max) {
    const start = this.pos;
    let value = 0;
    let scale = 1;
    for (;;) {
      if (this.pos >= this.bytes.length) this.fail("the bytes end inside a number", start);
      const byte = this.bytes[this.pos++];
      value += (byte & 0x7f) * scale;
      const longer = byte >= 0x80;
      if (value > max || (!longer && byte === 0 && scale > 1) || scale > 0x10000000) this.#malformed(start);
      if (!longer) return value;
      scale *= 0x80;
    }
  }
  unsigned64() {
    const start = this.pos;
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      if (this.pos >= this.bytes.length) this.fail("the bytes end inside a number", start);
      const byte = this.bytes[this.pos++];
      value |= BigInt(byte & 0x7f) << shift;
      const longer = byte >= 0x80;
      if (value > U64_MAX || (!longer && byte === 0 && shift > 0n) || (longer && shift >= 63n)) this.#malformed(start);
      if (!longer) return value;
    }
  }
  #malformed(start) {
    this.fail("a number does not fit in its type, or is not in its shortest form", start);
  }
  /** The count of a container whose elements take at least `min` bytes each. */
  count(min) {
    const start = this.pos;
    const count = this.unsigned(U32_MAX);
    const left = this.bytes.length - this.pos;
    if (count * min > left) this.fail(`${count} elements need at least ${count * min} bytes, ${left} left`, start);
    if (min === 0 && count > MAX_EMPTY_ITEMS) this.fail(`${count} elements without bytes, more than ${MAX_EMPTY_ITEMS}`, start);
    this.charge(count * 8);
    return count;
  }
  blob() {
    const start = this.pos;
    const size = this.unsigned(U32_MAX);
    const left = this.bytes.length - this.pos;
    if (size > left) this.fail(`length ${size}, but ${left} bytes left`, start);
    this.charge(64 + size);
    return this.bytes.slice(this.take(size), this.pos);
  }
  finish() {
    const left = this.bytes.length - this.pos;
    if (left > 0) this.fail(`${left} byte${left === 1 ? "" : "s"} after the end of the value`);
  }
}

class Writer extends Path {
  bytes = new Uint8Array(256);
  size = 0;
  constructor(root) {
    super();
    this.parts.push(root);
    this.view = new DataView(this.bytes.buffer);
  }
  fail(reason) {
    this.broken(reason);
  }
  /** Room for `size` zero bytes; where they begin. */
  room(size) {
    if (this.size + size > this.bytes.length) {
      const larger = new Uint8Array(Math.max(this.size + size, this.bytes.length * 2));
      larger.set(this.bytes.subarray(0, this.size));
      this.bytes = larger;
      this.view = new DataView(larger.buffer);
    }
    this.size += size;
    return this.size - size;
  }
  byte(value) {
    const at = this.room(1); // which may change this.bytes
    this.bytes[at] = value;
  }
  unsigned(value) {
    for (; value >= 0x80; value = Math.floor(value / 0x80)) this.byte((value % 0x80) | 0x80);
    this.byte(value);
  }
  unsigned64(value) {
    for (; value >= 0x80n; value >>= 7n) this.byte(Number(value & 0x7fn) | 0x80);
    this.byte(Number(value));
  }
  blob(bytes) {
    this.unsigned(bytes.length);
    const at = this.room(bytes.length);
    this.bytes.set(bytes, at);
  }
}

const told = (value) => (typeof value === "string" ? JSON.stringify(value.slice(0, 60)) : typeof value === "bigint" ? `${value}n` : typeof value === "object" && value !== null ? (value.constructor?.name ?? "an object") : String(value));
const byNumber = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

function byBytes(a, b) {
  const shorter = Math.min(a.length, b.length);
  for (let at = 0; at < shorter; at++) if (a[at] !== b[at]) return a[at] - b[at];
  return a.length - b.length;
}

// Scalars

function integer(word, bits, signed, letter) {
  const [low, high] = signed ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
  const size = bits / 8;
  const check = (writer, value) => {
    if (!Number.isInteger(value)) writer.broken(`expected ${word}, got ${told(value)}`);
    if (value < low || value > high) writer.broken(`${value} does not fit in ${word}`);
  };
  const type = {
    size,
    compare: byNumber,
    min: () => 1,
    readFixed: (reader) => reader.view[`get${letter}`](reader.take(size), true),
    writeFixed(writer, value) {
      check(writer, value);
      const at = writer.room(size);
      writer.view[`set${letter}`](at, value, true);
    },
  };
  if (bits === 8) return { ...type, read: type.readFixed, write: type.writeFixed };
  return {
    ...type,
    read(reader) {
      const number = reader.unsigned(2 ** bits - 1);
      return signed ? (number >>> 1) ^ -(number & 1) : number;
    },
    write(writer, value) {
      check(writer, value);
      writer.unsigned(signed ? (value < 0 ? -2 * value - 1 : 2 * value) : value);
    },
  };
}

function integer64(word, signed) {
  const [low, high] = signed ? [-(1n << 63n), (1n << 63n) - 1n] : [0n, U64_MAX];
  const letter = signed ? "BigInt64" : "BigUint64";
  const check = (writer, value) => {
    if (typeof value !== "bigint") writer.broken(`expected ${word} (a bigint), got ${told(value)}`);
    if (value < low || value > high) writer.broken(`${value} does not fit in ${word}`);
  };
  return {
    size: 8,
    compare: byNumber,
    min: () => 1,
    read(reader) {
      const number = reader.unsigned64();
      return signed ? (number >> 1n) ^ -(number & 1n) : number;
    },
    write(writer, value) {
      check(writer, value);
      writer.unsigned64(signed ? (value < 0n ? -2n * value - 1n : 2n * value) : value);
    },
    readFixed: (reader) => reader.view[`get${letter}`](reader.take(8), true),
    writeFixed(writer, value) {
      check(writer, value);
      const at = writer.room(8);
      writer.view[`set${letter}`](at, value, true);
    },
  };
}

/** A type whose bytes are the same in both tiers. */
const plain = (size, compare, read, write) => ({ size, compare, min: () => size, read, write, readFixed: read, writeFixed: write });

function float(word, size) {
  const letter = size === 4 ? "Float32" : "Float64";
  const write = (writer, value) => {
    if (typeof value !== "number") writer.broken(`expected ${word}, got ${told(value)}`);
    if (size === 4 && Number.isFinite(value) && !Number.isFinite(Math.fround(value))) writer.broken(`${value} does not fit in f32`);
    const at = writer.room(size);
    writer.view[`set${letter}`](at, value, true);
  };
  return plain(size, byNumber, (reader) => reader.view[`get${letter}`](reader.take(size), true), write);
}

export const bool = plain(
  1,
  byNumber,
  (reader) => reader.bit("bool"),
  (writer, value) => {
    if (typeof value !== "boolean") writer.broken(`expected bool, got ${told(value)}`);
    writer.byte(value ? 1 : 0);
  },
);
export const i8 = integer("i8", 8, true, "Int8");
export const i16 = integer("i16", 16, true, "Int16");
export const i32 = integer("i32", 32, true, "Int32");
export const i64 = integer64("i64", true);
export const u8 = integer("u8", 8, false, "Uint8");
export const u16 = integer("u16", 16, false, "Uint16");
export const u32 = integer("u32", 32, false, "Uint32");
export const u64 = integer64("u64", false);
export const f32 = float("f32", 4);
export const f64 = float("f64", 8);
export const timestamp = integer64("timestamp", true);
export const duration = integer64("duration", true);

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const uuid = plain(
  16,
  (a, b) => byNumber(a.toLowerCase(), b.toLowerCase()),
  (reader) => hex(reader.bytes.subarray(reader.take(16), reader.pos)).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
  (writer, value) => {
    if (typeof value !== "string" || !UUID.test(value)) writer.broken(`expected a uuid in its canonical text, got ${told(value)}`);
    const digits = value.replaceAll("-", "");
    const at = writer.room(16);
    for (let byte = 0; byte < 16; byte++) writer.bytes[at + byte] = parseInt(digits.slice(2 * byte, 2 * byte + 2), 16);
  },
);

export const string = {
  compare: (a, b) => byBytes(utf8.encoder.encode(a), utf8.encoder.encode(b)),
  min: () => 1,
  length: (value) => utf8.encoder.encode(value).length,
  read(reader) {
    const start = reader.pos;
    const bytes = reader.blob();
    try {
      return utf8.decoder.decode(bytes);
    } catch {
      return reader.fail("text is not UTF-8", start);
    }
  },
  write(writer, value) {
    if (typeof value !== "string") writer.broken(`expected a string, got ${told(value)}`);
    if (/\p{Surrogate}/u.test(value)) writer.broken("text with a lone surrogate");
    writer.blob(utf8.encoder.encode(value));
  },
};

export const bytes = {
  compare: byBytes,
  min: () => 1,
  length: (value) => value.length,
  read: (reader) => reader.blob(),
  write(writer, value) {
    if (!(value instanceof Uint8Array)) writer.broken(`expected a Uint8Array, got ${told(value)}`);
    writer.blob(value);
  },
};

// Containers

const items = (reader, count, element) => {
  reader.enter();
  const values = [];
  for (let index = 0; index < count; index++) values.push(reader.at(index, () => element.read(reader)));
  reader.depth--;
  return values;
};

const writeItems = (writer, values, element) => {
  writer.enter();
  values.forEach((value, index) => writer.at(index, () => element.write(writer, value)));
  writer.depth--;
};

const ascending = (reader, keys, type, start) => {
  for (let at = 1; at < keys.length; at++) if (type.compare(keys[at - 1], keys[at]) >= 0) reader.fail("keys are not strictly ascending", start);
};

const sorted = (writer, keys, type, keyOf) => {
  const ordered = [...keys].sort((a, b) => type.compare(keyOf(a), keyOf(b)));
  for (let at = 1; at < ordered.length; at++) if (type.compare(keyOf(ordered[at - 1]), keyOf(ordered[at])) === 0) writer.broken("a key stands here twice");
  return ordered;
};

export const list = (element) => ({
  min: () => 1,
  length: (value) => value.length,
  read: (reader) => items(reader, reader.count(element.min()), element),
  write(writer, value) {
    if (!Array.isArray(value)) writer.broken(`expected an array, got ${told(value)}`);
    writer.unsigned(value.length);
    writeItems(writer, value, element);
  },
});

export function array(element, length) {
  const check = (writer, value) => {
    if (!Array.isArray(value)) writer.broken(`expected an array, got ${told(value)}`);
    if (value.length !== length) writer.broken(`expected exactly ${length} elements, got ${value.length}`);
  };
  return {
    get size() {
      return length * element.size;
    },
    min: () => length * element.min(),
    read(reader) {
      reader.charge(length * 8);
      return items(reader, length, element);
    },
    write(writer, value) {
      check(writer, value);
      writeItems(writer, value, element);
    },
    readFixed(reader) {
      reader.charge(length * 8);
      return Array.from({ length }, (_, index) => reader.at(index, () => element.readFixed(reader)));
    },
    writeFixed(writer, value) {
      check(writer, value);
      value.forEach((each, index) => writer.at(index, () => element.writeFixed(writer, each)));
    },
  };
}

export const set = (element) => ({
  min: () => 1,
  length: (value) => value.size,
  read(reader) {
    const start = reader.pos;
    const values = items(reader, reader.count(element.min()), element);
    ascending(reader, values, element, start);
    return new Set(values);
  },
  write(writer, value) {
    if (!(value instanceof Set)) writer.broken(`expected a Set, got ${told(value)}`);
    writer.unsigned(value.size);
    writeItems(writer, writableKeys(writer, value, element, (each) => each), element);
  },
});

/** In the wire's order. Comparing needs keys of the right type, so each is written once for its errors alone. */
const writableKeys = (writer, entries, type, keyOf) => {
  const trial = new Writer(writer.toString());
  let index = 0;
  for (const entry of entries) trial.at(index++, () => type.write(trial, keyOf(entry)));
  return sorted(writer, entries, type, keyOf);
};

export const map = (key, value) => ({
  min: () => 1,
  length: (entries) => entries.size,
  read(reader) {
    const start = reader.pos;
    const entries = items(reader, reader.count(key.min() + value.min()), { read: (from) => [key.read(from), value.read(from)] });
    ascending(reader, entries.map(([each]) => each), key, start);
    return new Map(entries);
  },
  write(writer, entries) {
    if (!(entries instanceof Map)) writer.broken(`expected a Map, got ${told(entries)}`);
    writer.unsigned(entries.size);
    const pair = {
      write(into, [first, second]) {
        key.write(into, first);
        value.write(into, second);
      },
    };
    writeItems(writer, writableKeys(writer, entries, key, ([each]) => each), pair);
  },
});

export const optional = (element) => ({
  min: () => 1,
  read: (reader) => (reader.bit("presence") ? element.read(reader) : undefined),
  write(writer, value) {
    writer.byte(value === undefined ? 0 : 1);
    if (value !== undefined) element.write(writer, value);
  },
});

// Constraints. `rules`: {range: [low, high], length: [low, high], finite: true}; a bound that is undefined is none.

export function checked(type, rules) {
  const check = (where, value) => {
    const problem = value === undefined ? null : violation(type, rules, value);
    if (problem !== null) where.broken(problem);
    return value;
  };
  const made = Object.create(type); // what is not here is the type's own
  const around = (read, write) => ({
    [read]: { value: (reader) => check(reader, type[read](reader)) },
    [write]: {
      value(writer, value) {
        type[write](writer, value); // first, for it sees whether the value is of the type at all
        check(writer, value);
      },
    },
  });
  return Object.defineProperties(made, { ...around("read", "write"), ...around("readFixed", "writeFixed"), min: { value: () => type.min() } });
}

function violation(type, rules, value) {
  const { range, length, finite } = rules;
  const outside = ([low, high], number) => (low !== undefined && !(number >= low)) || (high !== undefined && !(number <= high));
  const spelled = ([low, high]) => `${low ?? ""}..${high ?? ""}`;
  if (range && outside(range, value)) return `${value} is not in ${spelled(range)}`;
  if (length) {
    const size = lengthOf(value);
    if (outside(length, size)) return `length ${size} is not in ${spelled(length)}`;
  }
  return finite && !Number.isFinite(value) ? `${value} is not finite` : null;
}

const lengthOf = (value) => (typeof value === "string" ? string.length(value) : (value.size ?? value.length));

// Declared types

/** `members`: the numbers of a closed enum; null for an open one, whose unknown numbers survive. Flags are like an open enum. */
export function enumOf(name, base, members) {
  if (members === null) return base;
  const known = new Set(members);
  const around = (read) => (reader) => {
    const start = reader.pos;
    const number = base[read](reader);
    return known.has(number) ? number : reader.fail(`${number} is not a member of ${name}`, start);
  };
  const back = (write) => (writer, value) => {
    if (!known.has(value)) writer.broken(`${told(value)} is not a member of ${name}`);
    base[write](writer, value);
  };
  return { ...base, read: around("read"), write: back("write"), readFixed: around("readFixed"), writeFixed: back("writeFixed") };
}

const assign = (value, name, field) => {
  if (name === "__proto__") Object.defineProperty(value, name, { value: field, writable: true, enumerable: true, configurable: true });
  else value[name] = field;
};

/** A field that is not there may still be found: every object has a `constructor` and a `toString` from Object. */
const own = (value, name) => (name in Object.prototype && !Object.hasOwn(value, name) ? undefined : value[name]);

const isObject = (writer, value, name) => {
  if (typeof value !== "object" || value === null) writer.broken(`expected a ${name}, got ${told(value)}`);
};

/** encode() and decode() around a type; `defaults()`: fields that a caller need not give. */
function codec(name, tier, type, defaults) {
  const root = name.slice(name.lastIndexOf(".") + 1);
  return Object.assign(type, {
    typeName: name,
    tier,
    encode(value) {
      const writer = new Writer(root);
      type.write(writer, value);
      return writer.bytes.slice(0, writer.size);
    },
    decode(data) {
      const reader = new Reader(data, root);
      const value = type.read(reader);
      reader.finish();
      return value;
    },
    make: (fields) => ({ ...defaults(), ...fields }),
  });
}

/** A struct of tier febird. `fields()`: [name, type] in order. `implicit`: of a method; it counts for no level of nesting. */
export function febirdStruct(name, fields, { defaults = () => ({}), implicit = false } = {}) {
  let known;
  let smallest;
  const listed = () => (known ??= fields());
  const type = {
    min: () => (smallest ??= listed().reduce((sum, [, each]) => sum + each.min(), 0)),
    read(reader) {
      if (!implicit) reader.enter();
      reader.charge(48);
      const value = {};
      for (const [field, each] of listed()) assign(value, field, reader.at(field, () => each.read(reader)));
      if (!implicit) reader.depth--;
      return value;
    },
    write(writer, value) {
      isObject(writer, value, name);
      if (!implicit) writer.enter();
      for (const [field, each] of listed()) writer.at(field, () => each.write(writer, own(value, field)));
      if (!implicit) writer.depth--;
    },
  };
  return codec(name, "febird", type, defaults);
}

/** A struct of tier memcpy. `fields()`: [name, offset, type] in order. Padding is zero when written, and ignored when read. */
export function memcpyStruct(name, size, fields, { defaults = () => ({}), implicit = false } = {}) {
  let known;
  const listed = () => (known ??= fields());
  const type = {
    size,
    min: () => size,
    readFixed(reader) {
      const start = reader.take(size);
      const value = {};
      for (const [field, offset, each] of listed()) {
        reader.pos = start + offset;
        assign(value, field, reader.at(field, () => each.readFixed(reader)));
      }
      reader.pos = start + size;
      return value;
    },
    writeFixed(writer, value) {
      isObject(writer, value, name);
      const start = writer.size;
      for (const [field, offset, each] of listed()) {
        writer.room(start + offset - writer.size);
        writer.at(field, () => each.writeFixed(writer, own(value, field)));
      }
      writer.room(start + size - writer.size);
    },
    read(reader) {
      if (!implicit) reader.enter();
      reader.charge(48);
      const value = type.readFixed(reader);
      if (!implicit) reader.depth--;
      return value;
    },
    write(writer, value) {
      if (!implicit) writer.enter();
      type.writeFixed(writer, value);
      if (!implicit) writer.depth--;
    },
  };
  return codec(name, "memcpy", type, defaults);
}

/** `alternatives()`: [number, name, type]. A value is {kind: name, value}. */
export function union(name, alternatives) {
  let known;
  const listed = () => (known ??= alternatives());
  const type = {
    min: () => 1,
    read(reader) {
      reader.enter();
      reader.charge(48);
      const start = reader.pos;
      const number = reader.unsigned(U32_MAX);
      const found = listed().find(([each]) => each === number);
      if (found === undefined) return reader.fail(`${number} is not an alternative of ${name}`, start);
      const [, kind, each] = found;
      const value = reader.at(kind, () => each.read(reader));
      reader.depth--;
      return { kind, value };
    },
    write(writer, value) {
      isObject(writer, value, name);
      writer.enter();
      const found = listed().find(([, kind]) => kind === value.kind);
      if (found === undefined) writer.broken(`${told(value.kind)} is not an alternative of ${name}`);
      const [number, kind, each] = found;
      writer.unsigned(number);
      writer.at(kind, () => each.write(writer, value.value));
      writer.depth--;
    },
  };
  return codec(name, "febird", type, () => ({}));
}
