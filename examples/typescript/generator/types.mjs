// Type expressions and values of the program as text of TypeScript and JavaScript, from within one module.

import { BIG } from "./program.mjs";
import { key, property } from "./names.mjs";

const TYPES = { BOOL: "boolean", STRING: "string", BYTES: "Uint8Array", UUID: "string" };

export class Writer {
  /** `refer…(fullName, prefix)`: the name of a declaration, `$` before it for an enum's codec; it notes the import. */
  constructor(program, referInTypes, referInCode) {
    this.program = program;
    this.referInTypes = referInTypes;
    this.referInCode = referInCode;
  }

  /** As TypeScript, with the author's aliases if the number is that of a `spelled`. */
  typescript(number) {
    const type = this.program.types[number];
    const of = (each) => this.typescript(each);
    switch (type.kind) {
      case "scalar":
        return TYPES[type.scalar] ?? (BIG.has(type.scalar) ? "bigint" : "number");
      case "named":
        return this.referInTypes(type.named.full_name);
      case "alias":
        return this.referInTypes(type.alias.full_name);
      case "list":
        return this.#array(type.list.element);
      case "array":
        return this.#array(type.array.element);
      case "set":
        return `Set<${of(type.set.element)}>`;
      case "map":
        return `Map<${of(type.map.key)}, ${of(type.map.value)}>`;
      case "optional":
        return `${of(type.optional)} | undefined`;
      case "ref":
        return of(type.ref);
      default:
        throw new Error(`types of kind ${type.kind} are unknown to this generator`);
    }
  }

  #array(element) {
    const text = this.typescript(element);
    return text.includes(" ") && !text.endsWith(">") ? `(${text})[]` : `${text}[]`;
  }

  /** The expression of a runtime type. */
  codec(number, constraints = []) {
    const type = this.program.type(number);
    return this.#checked(this.#codec(type), this.program.bare(number), constraints);
  }

  #codec(type) {
    switch (type.kind) {
      case "scalar":
        return `mf.${type.scalar.toLowerCase()}`;
      case "named":
        return this.referInCode(type.named.full_name, ["ENUM", "FLAGS"].includes(type.named.kind) ? "$" : "");
      case "list":
        return `mf.list(${this.codec(type.list.element, type.list.constraints)})`;
      case "set":
        return `mf.set(${this.codec(type.set.element, type.set.constraints)})`;
      case "array":
        return `mf.array(${this.codec(type.array.element, type.array.constraints)}, ${type.array.length})`;
      case "map":
        return this.#map(type.map);
      case "optional":
        return `mf.optional(${this.codec(type.optional)})`;
      default:
        throw new Error(`types of kind ${type.kind} have no codec`);
    }
  }

  #map({ key: keyType, value, key_constraints, value_constraints }) {
    return `mf.map(${this.codec(keyType, key_constraints)}, ${this.codec(value, value_constraints)})`;
  }

  #checked(text, type, constraints) {
    for (const { kind, ...each } of constraints) {
      if (kind === "range") {
        const [low, high] = [each.range.low, each.range.high].map((bound) => this.#bound(bound, type));
        text = `mf.checked(${text}, { range: [${low}, ${high}] })`;
      }
      if (kind === "length") text = `mf.checked(${text}, { length: [${each.length.low}, ${each.length.high}] })`;
      if (kind === "finite") text = `mf.checked(${text}, { finite: true })`;
    }
    return text; // patterns: module.mjs warns of them
  }

  #bound(number, type) {
    if (number === undefined) return "undefined";
    return number.kind === "real" ? real(number.real) : this.#integer(number[number.kind], type);
  }

  #integer(number, type) {
    return BIG.has(this.program.base(type)) ? `${number}n` : `${number}`;
  }

  /** A value of a constant or default, as JavaScript. */
  literal(number, typeNumber) {
    const value = this.program.values[number];
    const type = this.program.bare(typeNumber);
    switch (value.kind) {
      case "boolean":
        return String(value.boolean);
      case "integer":
      case "large":
        return this.#integer(value[value.kind], type);
      case "real":
        return real(value.real);
      case "text":
        return JSON.stringify(value.text);
      case "raw":
        return type.scalar === "UUID" ? JSON.stringify(uuid(value.raw)) : `new Uint8Array([${[...value.raw]}])`;
      case "enum":
        return `${this.referInCode(value.enum.enum)}[${JSON.stringify(value.enum.member)}]`;
      case "flags":
        return this.#integer(value.flags.bits, type);
      case "list":
        return this.#listLiteral(value.list.elements, type);
      case "map":
        return this.#mapLiteral(value.map.entries, type.map);
      case "struct":
        return this.#structLiteral(value.struct);
      case "union":
        return this.#unionLiteral(value.union);
      default:
        throw new Error(`values of kind ${value.kind} are unknown to this generator`);
    }
  }

  #listLiteral(elements, type) {
    const text = `[${elements.map((each) => this.literal(each, type[type.kind].element)).join(", ")}]`;
    return type.kind === "set" ? `new Set(${text})` : text;
  }

  #mapLiteral(entries, { key: keyType, value }) {
    const pairs = entries.map((each) => `[${this.literal(each.key, keyType)}, ${this.literal(each.value, value)}]`);
    return `new Map([${pairs.join(", ")}])`;
  }

  #structLiteral({ struct, fields }) {
    const declared = this.program.declarations.get(struct).it.fields;
    const typeOf = (name) => declared.find((field) => field.name === name).type;
    const parts = fields.map(({ name, value }) => `${key(name)}: ${this.literal(value, typeOf(name))}`);
    const text = `{ ${parts.join(", ")} }`;
    return this.program.hasCodec(struct) ? `${this.referInCode(struct)}.make(${text})` : text;
  }

  #unionLiteral({ union, alternative, value }) {
    const { type } = this.program.declarations.get(union).it.alternatives.find((each) => each.name === alternative);
    return `{ kind: ${JSON.stringify(alternative)}, value: ${this.literal(value, type)} }`;
  }

  /** One field of an interface; the type of an optional one says `| undefined` itself. */
  member(field) {
    const optional = this.program.type(field.type).kind === "optional" ? "?" : "";
    return `${property(field.name)}${optional}: ${this.typescript(field.spelled)};`;
  }
}

const real = (number) => (Object.is(number, -0) ? "-0" : String(number));

const uuid = (raw) =>
  Buffer.from(raw)
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
