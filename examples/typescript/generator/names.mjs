// The names of generated code. One rule for every collision, that of mfidlc's own generators: a name of the schema that
// is reserved or taken gets a trailing underscore, and another, until it is free; the names that the generator adds are
// taken first.

const words = (text) => text.trim().split(/\s+/);

// Keywords of JavaScript modules, names that the generated code uses, and types of TypeScript that a declaration must
// not hide.
const RESERVED = words(`
  arguments await break case catch class const continue debugger default delete do else enum eval export extends
  false finally for function if implements import in instanceof interface let new null package private protected
  public return static super switch this throw true try typeof var void while with yield Array BigInt Infinity
  Map NaN Object Set Uint8Array undefined mf any bigint boolean never number object string symbol unknown
  Readonly
`);

export class Scope {
  #taken = new Set(RESERVED);
  take(wanted) {
    let name = wanted;
    while (this.#taken.has(name)) name += "_";
    this.#taken.add(name);
    return name;
  }
}

export const camel = (name) =>
  name
    .split("_")
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join("");

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** A property in a type. */
export const property = (name) => (IDENTIFIER.test(name) && name !== "__proto__" ? name : JSON.stringify(name));

/** A key in an object literal of JavaScript, where a bare __proto__ is no key. */
export const key = (name) => (name === "__proto__" ? '["__proto__"]' : property(name));

/** The file of a module, without its ending: sf1.search -> sf1/search. mf.js is ours. */
export const fileOf = (module) => (module.name === "mf" ? "mf_" : module.name.replaceAll(".", "/"));

/** Names of one module's declarations, by full name; of services' parameters and results too. */
export function namesOf(module) {
  const scope = new Scope();
  const names = new Map();
  for (const service of module.services) {
    for (const method of service.methods) {
      for (const each of [method.params, method.results])
        names.set(each.full_name, scope.take(`${service.name}${camel(method.name)}${camel(each.name)}`));
    }
  }
  const declared = module.declarations.map((each) => each[each.kind]);
  for (const each of [...module.constants, ...declared, ...module.services])
    names.set(each.full_name, scope.take(each.name));
  return { names, scope };
}
