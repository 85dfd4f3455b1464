// Reads .proto files (the part of proto3 that descriptor.proto and plugin.proto use) into tables that wire.mjs decodes
// and encodes by. So the message definitions themselves are all that this generator knows of mfidlc.
//
//   schema.messages: Map of full name -> {name, fields: [{name, number, type, repeated, optional, oneof}], byNumber}
//   schema.enums:    Map of full name -> Map of number -> word

const TOKEN = /\/\/[^\n]*|"(?:[^"\\]|\\.)*"|[A-Za-z_][\w.]*|\d+|[{}=;]/g;

export function parseProto(texts) {
  const schema = { messages: new Map(), enums: new Map() };
  for (const text of texts)
    parseFile(
      text.match(TOKEN).filter((token) => !token.startsWith("//")),
      schema,
    );
  for (const message of schema.messages.values())
    for (const field of message.fields) field.type = resolve(schema, message.name, field.type);
  return schema;
}

function parseFile(tokens, schema) {
  let scope = "";
  const next = () => tokens.shift();
  const expect = (wanted) => {
    const token = next();
    if (token !== wanted) throw new Error(`expected ${wanted} in a .proto file, found ${token}`);
  };

  function parseEnum(prefix) {
    const words = new Map();
    schema.enums.set(`${prefix}.${next()}`, words);
    expect("{");
    for (let word = next(); word !== "}"; word = next()) {
      expect("=");
      words.set(Number(next()), word);
      expect(";");
    }
  }

  function parseField(message, first, oneof) {
    const field = { repeated: first === "repeated", optional: first === "optional", oneof };
    field.type = field.repeated || field.optional ? next() : first;
    field.name = next();
    expect("=");
    field.number = Number(next());
    expect(";");
    message.fields.push(field);
    message.byNumber.set(field.number, field);
  }

  function parseMessage(prefix) {
    const message = { name: `${prefix}.${next()}`, fields: [], byNumber: new Map() };
    schema.messages.set(message.name, message);
    expect("{");
    for (let word = next(); word !== "}"; word = next()) {
      if (word === "enum") parseEnum(message.name);
      else if (word === "message") parseMessage(message.name);
      else if (word === "oneof") {
        const oneof = next();
        expect("{");
        for (let inner = next(); inner !== "}"; inner = next()) parseField(message, inner, oneof);
      } else parseField(message, word, undefined);
    }
  }

  while (tokens.length > 0) {
    const word = next();
    if (word === "package") scope = next();
    else if (word === "message") parseMessage(scope);
    else if (word === "enum") parseEnum(scope);
    else while (next() !== ";"); // syntax, import; and the end of package
    if (word === "package") expect(";");
  }
}

const SCALARS = new Set(["bool", "string", "bytes", "double", "uint32", "int32", "uint64", "int64"]);

/** {scalar}, {enum} or {message}: the innermost scope that has the name, as protobuf looks names up. */
function resolve(schema, scope, name) {
  if (SCALARS.has(name)) return { scalar: name };
  for (let prefix = scope; ; prefix = prefix.slice(0, Math.max(0, prefix.lastIndexOf(".")))) {
    const full = prefix ? `${prefix}.${name}` : name;
    if (schema.messages.has(full)) return { message: schema.messages.get(full) };
    if (schema.enums.has(full)) return { enum: schema.enums.get(full) };
    if (!prefix) throw new Error(`no message or enum ${name} in the .proto files`);
  }
}
