// What generated JavaScript imports: types that read and write their values in the tiers febird and memcpy,
// as docs/protocol.md has them in section 8. No dependencies; Node 18 and browsers.
//
// Values: bool boolean; i8..u32, f32, f64 number; 64-bit integers, timestamps and durations bigint; string; bytes
// Uint8Array; uuid its canonical text; list and array Array; set Set; map Map; T? the value or undefined; enum and
// flags their number; union {kind, value}.
//
// A type has min(), its smallest bytes in febird; read(reader) and write(writer, value) in febird; where it has a fixed
// size, size, readFixed(reader) and writeFixed(writer, value) in memcpy; if it can be a key, compare(a, b), the wire's
// order; and if its containers are rows, row, check(writer, value) and admit(reader, number, at).

export { DecodeError, Fault, ValueError } from "./mf-bytes.js";
export * from "./mf-scalars.js";
export * from "./mf-containers.js";
export * from "./mf-declared.js";
