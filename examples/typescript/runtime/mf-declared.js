// Enums, flags, structs and unions: what a schema declares.

import { Fault, Reader, told, U32_MAX, Writer } from "./mf-bytes.js";

/** `members`: the numbers of a closed enum; null for an open one and for flags, whose unknown numbers survive. */
export function enumOf(name, base, members) {
  if (members === null) return base;
  const known = new Set(members);
  const admit = (reader, number, at) =>
    known.has(number) ? number : reader.fail(Fault.unknown_enum_value, `${number} is not a member of ${name}`, at);
  const check = (writer, value) => {
    if (!known.has(value)) writer.broken(`${told(value)} is not a member of ${name}`);
  };
  const around = (read) => (reader) => {
    const start = reader.pos;
    return admit(reader, base[read](reader), start);
  };
  const back = (write) => (writer, value) => {
    check(writer, value);
    base[write](writer, value);
  };
  return {
    ...base,
    admit,
    check,
    read: around("read"),
    write: back("write"),
    readFixed: around("readFixed"),
    writeFixed: back("writeFixed"),
  };
}

const assign = (value, name, field) => {
  if (name === "__proto__")
    Object.defineProperty(value, name, { value: field, writable: true, enumerable: true, configurable: true });
  else value[name] = field;
};

/** A field that is not there may still be found: every object has a `constructor` and a `toString` from Object. */
const own = (value, name) => (name in Object.prototype && !Object.hasOwn(value, name) ? undefined : value[name]);

const isObject = (writer, value, name) => {
  if (typeof value !== "object" || value === null) writer.broken(`expected a ${name}, got ${told(value)}`);
};

/** encode() and decode() around a type; `defaults()`: fields that a caller need not give. */
function codec(name, tier, type, defaults, implicit = false) {
  const root = implicit ? undefined : name.slice(name.lastIndexOf(".") + 1);
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

/** Of tier febird. `fields()`: [name, type] in order. `implicit`: of a method; it is no level of nesting. */
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
      for (const [field, each] of listed())
        assign(
          value,
          field,
          reader.at(field, () => each.read(reader)),
        );
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
  return codec(name, "febird", type, defaults, implicit);
}

/** Of tier memcpy. `fields()`: [name, offset, type] in order. Padding is written as zero, and ignored when read. */
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
        assign(
          value,
          field,
          reader.at(field, () => each.readFixed(reader)),
        );
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
  return codec(name, "memcpy", type, defaults, implicit);
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
      if (found === undefined) return reader.fail(Fault.unknown_alternative, `${number} is not an alternative of ${name}`, start);
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
