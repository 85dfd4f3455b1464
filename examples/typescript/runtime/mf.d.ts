/** What can be wrong with bytes: the same numbers in every runtime. */
export declare const Fault: {
  /** The value ends early. */
  readonly truncated: 1;
  /** Bytes follow its end. */
  readonly trailing_bytes: 2;
  /** More elements, or a longer text, than the bytes left can hold. */
  readonly count_too_large: 3;
  /** More memory than a message may take. */
  readonly budget_exceeded: 4;
  /** Nested deeper than 64. */
  readonly depth_exceeded: 5;
  /** Not in its shortest form, or longer than ten bytes. */
  readonly malformed_number: 6;
  /** More than its type can hold. */
  readonly number_out_of_range: 7;
  /** Neither 0 nor 1. */
  readonly invalid_bool: 8;
  /** Of a closed enum. */
  readonly unknown_enum_value: 9;
  readonly invalid_utf8: 10;
  /** Of a set or map. */
  readonly keys_not_ascending: 11;
  /** Of a union. */
  readonly unknown_alternative: 12;
};
export type Fault = (typeof Fault)[keyof typeof Fault];

/** The bytes are not what the schema says. */
export declare class DecodeError extends Error {
  readonly fault: Fault;
  /** The field, such as "Hit.positions[3]". */
  readonly path: string;
  /** The byte, from 0. */
  readonly offset: number;
  readonly reason: string;
}

/** The value is not what the schema says, and nothing was written; or it was decoded, and breaks a constraint. */
export declare class ValueError extends Error {
  readonly path: string;
  readonly reason: string;
}

/** Values and bytes of one type. `D`: the names of the fields that have a default. */
export interface Codec<T, D extends keyof T = never> {
  /** The full name in the schema. */
  readonly typeName: string;
  readonly tier: "memcpy" | "febird";
  /** Throws ValueError. */
  encode(value: T): Uint8Array;
  /** Throws DecodeError, and ValueError where a constraint is broken. Takes the whole of `bytes`. */
  decode(bytes: Uint8Array): T;
  /** A value with the schema's defaults in the fields that are not given. */
  make(fields: Omit<T, D> & Partial<Pick<T, D>>): T;
}

/** What a protocol implementation needs of a method. */
export interface Method<P, R> {
  /** The number on the wire. */
  readonly index: number;
  readonly params: Codec<P, any>;
  readonly results: Codec<R, any>;
  /** Codecs of the declared errors; the order is on the wire. */
  readonly throws: readonly Codec<any, any>[];
  readonly oneway: boolean;
  readonly idempotent: boolean;
  /** Nanoseconds. */
  readonly deadline: bigint | undefined;
}

export interface Service<M> {
  readonly name: string;
  /** What it is offered per. */
  readonly agent: string | undefined;
  /** 16 bytes in hex; both sides must have the same. */
  readonly fingerprint: string;
  readonly methods: M;
}
