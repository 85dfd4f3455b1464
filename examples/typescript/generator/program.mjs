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
    this.#findWithoutCodec();
  }

  #withoutCodec = new Map(); // full name -> why

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

  whyNoCodec(fullName) {
    return this.#withoutCodec.get(fullName);
  }

  /** Why values of a struct or union cannot be read and written, or undefined: something is archive, custom, a ref. */
  lack({ plan, fields, alternatives }) {
    if (plan.tier !== "MEMCPY" && plan.tier !== "FEBIRD") return `it is of tier ${plan.tier.toLowerCase()}`;
    for (const { name, type } of fields ?? alternatives) {
      const found = this.#without(type);
      if (found !== undefined) return `\`${name}\` holds ${found}`;
    }
    return undefined;
  }

  /** What in a type has no codec. */
  #without(number) {
    const type = this.types[number];
    const inner = type[type.kind];
    switch (type.kind) {
      case "scalar":
        return undefined;
      case "named":
        return this.hasCodec(inner.full_name) ? undefined : `\`${this.declarations.get(inner.full_name).it.name}\``;
      case "list":
      case "set":
      case "array":
        return this.#without(inner.element);
      case "map":
        return this.#without(inner.key) ?? this.#without(inner.value);
      case "optional":
        return this.#without(inner);
      case "alias":
        return this.#without(inner.target);
      default:
        return "references";
    }
  }

  #findWithoutCodec() {
    for (let before = -1; before !== this.#withoutCodec.size;) {
      before = this.#withoutCodec.size;
      for (const [name, { kind, it }] of this.declarations) {
        if ((kind !== "struct" && kind !== "union") || this.#withoutCodec.has(name)) continue;
        const why = this.lack(it);
        if (why !== undefined) this.#withoutCodec.set(name, why);
      }
    }
  }
}
