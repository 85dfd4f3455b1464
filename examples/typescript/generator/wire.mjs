// Protobuf bytes to plain objects and back, by the tables of proto.mjs. 64-bit integers are bigint, enums their words.
// What is not there: repeated [], `optional` and messages undefined, the rest zero; of a oneof only the member that is
// set, and under the oneof's own name the member's.

const utf8 = { decoder: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }), encoder: new TextEncoder() };

const ZERO = {
  bool: false,
  string: "",
  bytes: new Uint8Array(0),
  double: 0,
  uint32: 0,
  int32: 0,
  uint64: 0n,
  int64: 0n,
};

export function decode(message, bytes) {
  const value = empty(message);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let pos = 0;
  const varint = () => {
    let number = 0n;
    for (let shift = 0n; ; shift += 7n) {
      if (pos >= bytes.length || shift > 63n) throw new Error("the request is damaged");
      const byte = bytes[pos++];
      number |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, number);
    }
  };
  const chunk = () => {
    const size = Number(varint());
    pos += size;
    if (pos > bytes.length) throw new Error("the request is damaged");
    return bytes.subarray(pos - size, pos);
  };
  const scalars = {
    bool: () => varint() !== 0n,
    string: () => utf8.decoder.decode(chunk()),
    bytes: () => chunk(),
    double: () => view.getFloat64((pos += 8) - 8, true),
    uint32: () => Number(BigInt.asUintN(32, varint())),
    int32: () => Number(BigInt.asIntN(32, varint())),
    uint64: varint,
    int64: () => BigInt.asIntN(64, varint()),
  };
  const one = ({ scalar, enum: words, message: inner }) =>
    inner ? decode(inner, chunk()) : words ? word(words, varint()) : scalars[scalar]();
  const skip = (kind) => {
    if (kind === 0) varint();
    else if (kind === 2) chunk();
    else pos += kind === 1 ? 8 : 4;
  };
  while (pos < bytes.length) {
    const tag = Number(varint());
    const field = message.byNumber.get(Math.floor(tag / 8));
    if (field === undefined) skip(tag % 8);
    else if (field.repeated && tag % 8 === 2 && isPackable(field.type)) {
      const end = Number(varint()) + pos;
      while (pos < end) value[field.name].push(one(field.type));
    } else if (field.repeated) value[field.name].push(one(field.type));
    else {
      value[field.name] = one(field.type);
      if (field.oneof) value[field.oneof] = field.name;
    }
  }
  return value;
}

const isPackable = ({ scalar, enum: words }) =>
  words !== undefined || (scalar !== undefined && scalar !== "string" && scalar !== "bytes");

const word = (words, number) => words.get(Number(number)) ?? `unknown ${number}`;

function empty(message) {
  const value = {};
  for (const { name, type, repeated, optional, oneof } of message.fields) {
    if (repeated) value[name] = [];
    else if (!optional && !oneof && !type.message) value[name] = type.enum ? word(type.enum, 0) : ZERO[type.scalar];
  }
  return value;
}

/** Writes the fields that the object has; of scalars bool, string, uint32 and enums, which is all that an answer has. */
export function encode(message, value) {
  const parts = [];
  for (const field of message.fields) {
    const given = value[field.name];
    if (given === undefined) continue;
    for (const each of field.repeated ? given : [given]) parts.push(encodeField(field, each));
  }
  return Buffer.concat(parts);
}

function encodeField({ number, type }, value) {
  if (type.message) return prefixed(number, encode(type.message, value));
  if (type.scalar === "string") return prefixed(number, utf8.encoder.encode(value));
  const plain = type.enum ? [...type.enum].find(([, each]) => each === value)[0] : Number(value);
  return Buffer.concat([varintOf(number * 8), varintOf(plain)]);
}

const prefixed = (number, bytes) => Buffer.concat([varintOf(number * 8 + 2), varintOf(bytes.length), bytes]);

function varintOf(number) {
  const out = [];
  for (; number >= 0x80; number = Math.floor(number / 0x80)) out.push((number % 0x80) | 0x80);
  return Buffer.from([...out, number]);
}
