// The built-in types of a single value.

import { byBytes, byNumber, Fault, told, U64_MAX, utf8, wrongByte } from "./mf-bytes.js";

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
    ...inRows(size, signed, check),
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

/** What mf-rows.js needs of an element: `check` before it is written, `admit` what was read. */
const inRows = (size, signed, check) => ({
  row: { size, signed, big: size === 8 },
  check,
  admit: (_reader, number) => number,
});

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
    ...inRows(8, signed, check),
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
const plain = (size, compare, read, write) => ({
  size,
  compare,
  min: () => size,
  read,
  write,
  readFixed: read,
  writeFixed: write,
});

function float(word, size) {
  const letter = size === 4 ? "Float32" : "Float64";
  const write = (writer, value) => {
    if (typeof value !== "number") writer.broken(`expected ${word}, got ${told(value)}`);
    if (size === 4 && Number.isFinite(value) && !Number.isFinite(Math.fround(value)))
      writer.broken(`${value} does not fit in f32`);
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
export const duration = integer64("duration", true);
const wide = integer64("timestamp", true);
export const timestamp = plain(8, byNumber, wide.readFixed, wide.writeFixed);

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const uuid = plain(
  16,
  (a, b) => byNumber(a.toLowerCase(), b.toLowerCase()),
  (reader) =>
    hex(reader.bytes.subarray(reader.take(16), reader.pos)).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
  (writer, value) => {
    if (typeof value !== "string" || !UUID.test(value))
      writer.broken(`expected a uuid in its canonical text, got ${told(value)}`);
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
    const bytes = reader.blob();
    try {
      return utf8.decoder.decode(bytes);
    } catch {
      const start = reader.pos - bytes.length;
      return reader.fail(Fault.invalid_utf8, "text is not UTF-8", start + wrongByte(bytes));
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
