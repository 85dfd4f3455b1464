// Lists, arrays, sets, maps, optional values; and constraints around any type.

import { Fault, told, Writer } from "./mf-bytes.js";
import { readArrayRow, readEntries, readRow, smallestRow, writeArrayRow, writeEntries, writeRow } from "./mf-rows.js";
import { string } from "./mf-scalars.js";

/** `count` elements; the container's level was entered. */
const items = (reader, count, read) => {
  const values = [];
  for (let index = 0; index < count; index++) values.push(reader.at(index, () => read(reader)));
  reader.depth--;
  return values;
};

const writeItems = (writer, values, element) => {
  writer.enter();
  // Not forEach(), which passes over holes.
  for (let index = 0; index < values.length; index++)
    writer.at(index, () => element.write(writer, values[index]));
  writer.depth--;
};

const readCounted = (reader, element) => {
  if (element.row) return readRow(reader, element);
  reader.enter();
  return items(reader, reader.count(element.min()), element.read);
};

const writeCounted = (writer, values, element) => {
  if (element.row) return writeRow(writer, values, element);
  writer.unsigned(values.length);
  return writeItems(writer, values, element);
};

/** The type of keys, for one reading: it refuses a key that does not come behind the one before. */
function ascending(type) {
  const before = [];
  const inOrder = (reader, key, at) => {
    if (before.length > 0 && type.compare(before.pop(), key) >= 0)
      reader.fail(Fault.keys_not_ascending, "keys are not strictly ascending", at);
    before.push(key);
    return key;
  };
  return {
    row: type.row,
    min: type.min,
    admit: (reader, number, at) => inOrder(reader, type.admit(reader, number, at), at),
    read(reader) {
      const at = reader.pos;
      return inOrder(reader, type.read(reader), at);
    },
  };
}

const sorted = (writer, keys, type, keyOf) => {
  const ordered = [...keys].sort((a, b) => type.compare(keyOf(a), keyOf(b)));
  for (let at = 1; at < ordered.length; at++)
    if (type.compare(keyOf(ordered[at - 1]), keyOf(ordered[at])) === 0) writer.broken("a key is given here twice");
  return ordered;
};

export const list = (element) => ({
  min: () => 1,
  length: (value) => value.length,
  read: (reader) => readCounted(reader, element),
  write(writer, value) {
    if (!Array.isArray(value)) writer.broken(`expected an array, got ${told(value)}`);
    writeCounted(writer, value, element);
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
    min: () => (element.row ? smallestRow(length) : length * element.min()),
    read(reader) {
      reader.charge(length * 8);
      if (element.row) return readArrayRow(reader, element, length);
      reader.enter();
      return items(reader, length, element.read);
    },
    write(writer, value) {
      check(writer, value);
      if (element.row) writeArrayRow(writer, value, element);
      else writeItems(writer, value, element);
    },
    readFixed(reader) {
      reader.charge(length * 8);
      return Array.from({ length }, (_, index) => reader.at(index, () => element.readFixed(reader)));
    },
    writeFixed(writer, value) {
      check(writer, value);
      for (let index = 0; index < length; index++)
        writer.at(index, () => element.writeFixed(writer, value[index]));
    },
  };
}

export const set = (element) => ({
  min: () => 1,
  length: (value) => value.size,
  read: (reader) => new Set(readCounted(reader, ascending(element))),
  write(writer, value) {
    if (!(value instanceof Set)) writer.broken(`expected a Set, got ${told(value)}`);
    writeCounted(
      writer,
      writableKeys(writer, value, element, (each) => each),
      element,
    );
  },
});

/** In the wire's order. Comparing needs keys of the right type, so each is written once for its errors alone. */
const writableKeys = (writer, entries, type, keyOf) => {
  const trial = new Writer(writer.toString());
  let index = 0;
  for (const entry of entries) trial.at(index++, () => type.write(trial, keyOf(entry)));
  return sorted(writer, entries, type, keyOf);
};

/** Of integers to integers: in blocks; else in pairs. */
export const map = (key, value) => ({
  min: () => 1,
  length: (entries) => entries.size,
  read(reader) {
    reader.enter();
    const count = reader.count(key.min() + value.min());
    const keys = ascending(key);
    if (!inBlocks(key, value)) return new Map(items(reader, count, (from) => [keys.read(from), value.read(from)]));
    const entries = readEntries(reader, keys, value, count);
    reader.depth--;
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
    const ordered = writableKeys(writer, entries, key, ([each]) => each);
    if (inBlocks(key, value)) writeEntries(writer, ordered, key, value);
    else writeItems(writer, ordered, pair);
  },
});

const inBlocks = (key, value) => Boolean(key.row && value.row);

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
  if (type.row)
    Object.defineProperties(made, {
      admit: { value: (reader, number, at) => check(reader, type.admit(reader, number, at)) },
      check: {
        value(writer, value) {
          type.check(writer, value);
          check(writer, value);
        },
      },
    });
  const around = (read, write) => ({
    [read]: { value: (reader) => check(reader, type[read](reader)) },
    [write]: {
      value(writer, value) {
        type[write](writer, value); // first, for it sees whether the value is of the type at all
        check(writer, value);
      },
    },
  });
  return Object.defineProperties(made, {
    ...around("read", "write"),
    ...around("readFixed", "writeFixed"),
    min: { value: () => type.min() },
  });
}

function violation(type, rules, value) {
  const { range, length, finite } = rules;
  const outside = ([low, high], number) =>
    (low !== undefined && !(number >= low)) || (high !== undefined && !(number <= high));
  const spelled = ([low, high]) => `${low ?? ""}..${high ?? ""}`;
  if (range && outside(range, value)) return `${value} is not in ${spelled(range)}`;
  if (length) {
    const size = lengthOf(value);
    if (outside(length, size)) return `length ${size} is not in ${spelled(length)}`;
  }
  return finite && !Number.isFinite(value) ? `${value} is not finite` : null;
}

const lengthOf = (value) => (typeof value === "string" ? string.length(value) : (value.size ?? value.length));
