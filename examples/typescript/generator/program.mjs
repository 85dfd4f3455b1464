// The program of a request, with the look-ups that emitting needs: types by number, declarations by name, names of
// generated code, and what has no codec.

import { namesOf } from "./names.mjs";

export const BIG = new Set(["I64", "U64", "TIMESTAMP", "DURATION"]);

export class Program {
  constructor({ modules, types, values }) {
    this.modules = modules;
    this.types = types;
    this.values = values;
    this.declarations = new Map(); // full name -> {module, kind, it}
    this.names = new Map(); // full name -> name in the generated code
    this.scopes = new Map(); // module -> Scope
    for (const module of modules) {
      for (const each of module.declarations)
        this.declarations.set(each[each.kind].full_name, { module, kind: each.kind, it: each[each.kind] });
      const { names, scope } = namesOf(module);
      for (const [full, name] of names) this.names.set(full, name);
      this.scopes.set(module, scope);
    }
    this.#withoutCodec = this.#findWithoutCodec();
  }

  #withoutCodec;

  /** An alias's entry stands for its target; optional ones are taken off with `bare`. */
  type(number) {
    const type = this.types[number];
    return type.kind === "alias" ? this.type(type.alias.target) : type;
  }

  bare(number) {
    const type = this.type(number);
    return type.kind === "optional" ? this.type(type.optional) : type;
  }

  /** The scalar that decides how a number is written in JavaScript: of an enum or flags its base. */
  base(type) {
    if (type.kind === "scalar") return type.scalar;
    if (type.kind !== "named") return undefined;
    return this.declarations.get(type.named.full_name).it.base;
  }

  /** Whether a constraint that `wanted` finds stands inside of a type, on elements, keys or values. */
  holds(number, wanted) {
    const type = this.type(number);
    const inner = type[type.kind];
    switch (type.kind) {
      case "list":
      case "set":
      case "array":
        return inner.constraints.some(wanted) || this.holds(inner.element, wanted);
      case "map":
        return (
          [...inner.key_constraints, ...inner.value_constraints].some(wanted) ||
          this.holds(inner.key, wanted) ||
          this.holds(inner.value, wanted)
        );
      case "optional":
        return this.holds(inner, wanted);
      default:
        return false;
    }
  }

  hasCodec(fullName) {
    return !this.#withoutCodec.has(fullName);
  }

  /** Whether values of a type can be read and written: nothing in it is of tier archive or custom, or a ref. */
  isCoded(number) {
    return this.#isCoded(number, this.#withoutCodec);
  }

  #isCoded(number, without) {
    const type = this.types[number];
    switch (type.kind) {
      case "scalar":
        return true;
      case "named":
        return !without.has(type.named.full_name);
      case "list":
        return this.#isCoded(type.list.element, without);
      case "set":
        return this.#isCoded(type.set.element, without);
      case "array":
        return this.#isCoded(type.array.element, without);
      case "map":
        return this.#isCoded(type.map.key, without) && this.#isCoded(type.map.value, without);
      case "optional":
        return this.#isCoded(type.optional, without);
      case "alias":
        return this.#isCoded(type.alias.target, without);
      default:
        return false;
    }
  }

  isCodedStruct({ plan, fields }) {
    return (plan.tier === "MEMCPY" || plan.tier === "FEBIRD") && fields.every((field) => this.isCoded(field.type));
  }

  #findWithoutCodec() {
    const without = new Set();
    for (let before = -1; before !== without.size;) {
      before = without.size;
      for (const [name, { kind, it }] of this.declarations) {
        if (kind !== "struct" && kind !== "union") continue;
        const parts = kind === "struct" ? it.fields : it.alternatives;
        const coded =
          (it.plan.tier === "MEMCPY" || it.plan.tier === "FEBIRD") &&
          parts.every((part) => this.#isCoded(part.type, without));
        if (!coded) without.add(name);
      }
    }
    return without;
  }
}
