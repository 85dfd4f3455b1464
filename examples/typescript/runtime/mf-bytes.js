// Bytes in, bytes out: a reader that checks every step, a writer that grows, and the two errors. Both know where they
// are in the value, for the error's path, and how deep.

const MAX_DEPTH = 64; // structs, unions and containers, one in another
const MAX_VARINT = 10; // bytes of a 64-bit number
const MAX_EMPTY_ITEMS = 65536; // elements that take no bytes at all
const MAX_DECODED = 128 * 1024 * 1024; // bytes of memory that one message may decode to, roughly
export const U32_MAX = 0xffffffff;
export const U64_MAX = 0xffffffffffffffffn;

/** What can be wrong with bytes: the same numbers in every runtime. */
export const Fault = Object.freeze({
  truncated: 1,
  trailing_bytes: 2,
  count_too_large: 3,
  budget_exceeded: 4,
  depth_exceeded: 5,
  malformed_number: 6,
  number_out_of_range: 7,
  invalid_bool: 8,
  unknown_enum_value: 9,
  invalid_utf8: 10,
  keys_not_ascending: 11,
  unknown_alternative: 12,
});

/** The bytes are not what the schema says. `offset`: the byte; `path`: the field, such as "Hit.positions[3]". */
export class DecodeError extends Error {
  constructor(fault, path, offset, reason) {
    super(`${path === "" ? "" : `${path}, `}at byte ${offset}: ${reason}`);
    this.name = "DecodeError";
    Object.assign(this, { fault, path, offset, reason });
  }
}

/** The value is not what the schema says, and nothing was written; or it was decoded, and breaks a constraint. */
export class ValueError extends Error {
  constructor(path, reason) {
    super(`${path === "" ? "" : `${path}: `}${reason}`);
    this.name = "ValueError";
    Object.assign(this, { path, reason });
  }
}

class Path {
  depth = 0;
  /** `root`: the short name of the type; none for a method's parameters and results. */
  constructor(root) {
    this.parts = root === undefined ? [] : [root];
  }
  enter() {
    if (++this.depth > MAX_DEPTH) this.fail(Fault.depth_exceeded, `nested deeper than ${MAX_DEPTH}`);
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

/** Where bytes stop to be UTF-8: the first of the first character that is none. */
export function wrongByte(bytes) {
  let at = 0;
  for (let size = 0; at < bytes.length; at += size) {
    size = bytes[at] < 0x80 ? 1 : bytes[at] < 0xe0 ? 2 : bytes[at] < 0xf0 ? 3 : 4;
    try {
      utf8.decoder.decode(bytes.subarray(at, at + size));
    } catch {
      return at;
    }
  }
  return at;
}

export class Reader extends Path {
  constructor(bytes, root) {
    super(root);
    if (!(bytes instanceof Uint8Array)) throw new TypeError("decode() takes a Uint8Array");
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.pos = 0;
    this.budget = MAX_DECODED;
  }
  fail(fault, reason, offset = this.pos) {
    throw new DecodeError(fault, this.toString(), offset, reason);
  }
  charge(size) {
    if ((this.budget -= size) < 0) this.fail(Fault.budget_exceeded, "the value takes more memory than one message may");
  }
  take(size) {
    const left = this.bytes.length - this.pos;
    if (size > left) this.fail(Fault.truncated, `${size} bytes expected, ${left} left`);
    this.pos += size;
    return this.pos - size;
  }
  bit(what) {
    const byte = this.bytes[this.take(1)];
    if (byte > 1) this.fail(Fault.invalid_bool, `${what} byte ${byte} is neither 0 nor 1`, this.pos - 1);
    return byte === 1;
  }
  /** LEB128, shortest form only, up to `max`, a number that doubles hold exactly. */
  unsigned(max) {
    const [start, size] = this.#varint();
    let value = 0;
    for (let at = start + size - 1; at >= start; at--) value = value * 0x80 + (this.bytes[at] & 0x7f);
    if (value > max) this.fail(Fault.number_out_of_range, "a number does not fit in its type", start);
    return value;
  }
  unsigned64() {
    const [start, size] = this.#varint();
    let value = 0n;
    for (let at = start + size - 1; at >= start; at--) value = (value << 7n) | BigInt(this.bytes[at] & 0x7f);
    if (value > U64_MAX) this.fail(Fault.number_out_of_range, "a number does not fit in its type", start);
    return value;
  }
  /** Where the next varint begins, and how long it is. */
  #varint() {
    const start = this.pos;
    let byte;
    do {
      if (this.pos >= this.bytes.length) this.fail(Fault.truncated, "the bytes end inside a number", start);
      byte = this.bytes[this.pos++];
      if (byte >= 0x80 && this.pos - start === MAX_VARINT)
        this.fail(Fault.malformed_number, `a number is longer than ${MAX_VARINT} bytes`, start);
    } while (byte >= 0x80);
    const size = this.pos - start;
    if (byte === 0 && size > 1) this.fail(Fault.malformed_number, "a number is not in its shortest form", start);
    return [start, size];
  }
  /** The count of a container whose elements take at least `min` bytes each. */
  count(min) {
    const start = this.pos;
    return this.fits(this.unsigned(U32_MAX), min, start);
  }
  fits(count, min, start) {
    const left = this.bytes.length - this.pos;
    const refuse = (reason) => this.fail(Fault.count_too_large, `${count} elements ${reason}`, start);
    if (count * min > left) refuse(`need at least ${count * min} bytes, ${left} left`);
    if (min === 0 && count > MAX_EMPTY_ITEMS) refuse(`without bytes, more than ${MAX_EMPTY_ITEMS}`);
    this.charge(count * 8);
    return count;
  }
  blob() {
    const start = this.pos;
    const size = this.unsigned(U32_MAX);
    const left = this.bytes.length - this.pos;
    if (size > left) this.fail(Fault.count_too_large, `length ${size}, but ${left} bytes left`, start);
    this.charge(64 + size);
    return this.bytes.slice(this.take(size), this.pos);
  }
  finish() {
    const left = this.bytes.length - this.pos;
    if (left > 0)
      this.fail(Fault.trailing_bytes, `${left} byte${left === 1 ? "" : "s"} after the end of the value`);
  }
}

export class Writer extends Path {
  bytes = new Uint8Array(256);
  size = 0;
  constructor(root) {
    super(root);
    this.view = new DataView(this.bytes.buffer);
  }
  fail(_fault, reason) {
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
