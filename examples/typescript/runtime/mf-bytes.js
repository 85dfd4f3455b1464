// Bytes in, bytes out: a reader that checks every step, a writer that grows, and the two errors. Both know where they
// are in the value, for the error's path, and how deep.

const MAX_DEPTH = 64; // structs, unions and containers, one in another
const MAX_EMPTY_ITEMS = 65536; // elements that take no bytes at all
const MAX_DECODED = 128 * 1024 * 1024; // bytes of memory that one message may decode to, roughly
export const U32_MAX = 0xffffffff;
export const U64_MAX = 0xffffffffffffffffn;

/** The bytes are not what the schema says. `offset`: the byte; `path`: the field, such as "Hit.positions[3]". */
export class DecodeError extends Error {
  constructor(path, offset, reason) {
    super(`${path}, at byte ${offset}: ${reason}`);
    this.name = "DecodeError";
    Object.assign(this, { path, offset, reason });
  }
}

/** The value is not what the schema says, and nothing was written; or it was decoded, and breaks a constraint. */
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
    return this.parts
      .map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`))
      .join("")
      .slice(1);
  }
  broken(reason) {
    throw new ValueError(this.toString(), reason);
  }
}

export const utf8 = { decoder: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }), encoder: new TextEncoder() };

export class Reader extends Path {
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
    if (min === 0 && count > MAX_EMPTY_ITEMS)
      this.fail(`${count} elements without bytes, more than ${MAX_EMPTY_ITEMS}`, start);
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

export class Writer extends Path {
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

export const told = (value) =>
  typeof value === "string"
    ? JSON.stringify(value.slice(0, 60))
    : typeof value === "bigint"
      ? `${value}n`
      : typeof value === "object" && value !== null
        ? (value.constructor?.name ?? "an object")
        : String(value);
export const byNumber = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

export function byBytes(a, b) {
  const shorter = Math.min(a.length, b.length);
  for (let at = 0; at < shorter; at++) if (a[at] !== b[at]) return a[at] - b[at];
  return a.length - b.length;
}
