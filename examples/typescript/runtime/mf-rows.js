// Rows: integers of 2, 4 or 8 bytes in lists, arrays and sets, in blocks of 256, each block in the narrowest of the
// widths 1, 2, 4, 8 that holds it. Maps of such integers to such integers lie in blocks too: in each its two widths,
// then its keys, then its values (docs/protocol.md, section 8).

import { Fault, U32_MAX } from "./mf-bytes.js";

const BLOCK = 256;
const WIDTHS = [1, 2, 4, 8];

const blocksOf = (count) => Math.ceil(count / BLOCK);
const sizeOfBlock = (count, block) => Math.min(BLOCK, count - block * BLOCK);
const codeBytes = (codes) => Math.ceil(codes / 4); // two bits each

/** The smallest that `count` integers of an array take. */
export const smallestRow = (count) => codeBytes(blocksOf(count)) + count;

/** A list's or set's: head, codes of the blocks behind the first, values. */
export function readRow(reader, element) {
  reader.enter();
  const start = reader.pos;
  const head = reader.unsigned64();
  if (head >> 2n > BigInt(U32_MAX)) reader.fail(Fault.number_out_of_range, `${head >> 2n} elements`, start);
  const count = Number(head >> 2n);
  if (count === 0 && head > 0n) reader.fail(Fault.malformed_number, "an empty row has the width of values", start);
  const first = accepted(reader, element, Number(head & 3n), start);
  reader.fits(count, 1, start);
  return readBlocks(reader, element, count, count === 0 ? [] : [first]);
}

/** An array's: codes of all blocks, values. */
export function readArrayRow(reader, element, count) {
  reader.enter();
  return readBlocks(reader, element, count, []);
}

function readBlocks(reader, element, count, codes) {
  readCodes(reader, element, blocksOf(count), codes);
  const sizes = codes.map((code, block) => WIDTHS[code] * sizeOfBlock(count, block));
  let start = reader.take(sizes.reduce((sum, size) => sum + size, 0));
  const values = [];
  codes.forEach((code, block) => {
    readBlock(reader, element, WIDTHS[code], start, start + sizes[block], values);
    start += sizes[block];
  });
  reader.depth--;
  return values;
}

function readCodes(reader, element, blocks, codes) {
  const missing = blocks - codes.length;
  const start = reader.take(codeBytes(missing));
  for (let at = 0; at < missing; at++)
    codes.push(accepted(reader, element, (reader.bytes[start + (at >> 2)] >> (2 * (at & 3))) & 3, start + (at >> 2)));
  if (missing % 4 > 0 && reader.bytes[reader.pos - 1] >> (2 * (missing % 4)) > 0)
    reader.fail(Fault.malformed_number, "bits behind the last block's width are set", reader.pos - 1);
}

function accepted(reader, element, code, at) {
  const { size } = element.row;
  if (WIDTHS[code] > size)
    reader.fail(Fault.number_out_of_range, `integers of ${WIDTHS[code]} bytes among ${size}-byte ones`, at);
  return code;
}

function readBlock(reader, element, width, start, end, values) {
  const get = getter(reader.view, width, element.row);
  for (let at = start; at < end; at += width)
    values.push(reader.at(values.length, () => element.admit(reader, get(at), at)));
}

function getter(view, width, { signed, big }) {
  const method = `get${width === 8 ? "Big" : ""}${signed ? "Int" : "Uint"}${8 * width}`;
  const get = (at) => view[method](at, true);
  return big && width < 8 ? (at) => BigInt(get(at)) : get;
}

/** What follows a map's count: [key, value] of each entry. The map's level was entered. */
export function readEntries(reader, key, value, count) {
  const [keys, values] = [[], []];
  for (let block = 0; block < blocksOf(count); block++) {
    const size = sizeOfBlock(count, block);
    const start = reader.take(1);
    const codes = reader.bytes[start];
    if (codes > 15) reader.fail(Fault.malformed_number, "bits behind the widths of a block are set", start);
    const ofKeys = accepted(reader, key, codes & 3, start);
    const ofValues = accepted(reader, value, codes >> 2, start);
    readPiece(reader, key, WIDTHS[ofKeys], size, keys);
    readPiece(reader, value, WIDTHS[ofValues], size, values);
  }
  return keys.map((each, index) => [each, values[index]]);
}

function readPiece(reader, element, width, count, values) {
  const start = reader.take(width * count);
  readBlock(reader, element, width, start, reader.pos, values);
}

export function writeRow(writer, values, element) {
  const codes = codesOf(writer, values, element);
  writer.unsigned64(BigInt(values.length) * 4n + BigInt(codes[0] ?? 0));
  writeCodes(writer, codes.slice(1));
  writeBlocks(writer, values, element, codes);
}

export function writeArrayRow(writer, values, element) {
  const codes = codesOf(writer, values, element);
  writeCodes(writer, codes);
  writeBlocks(writer, values, element, codes);
}

/** [key, value] of each entry of a map, behind its count; ascending, and the keys were looked at. */
export function writeEntries(writer, entries, key, value) {
  writer.enter();
  entries.forEach(([, each], index) => writer.at(index, () => value.check(writer, each)));
  for (let first = 0; first < entries.length; first += BLOCK) {
    const block = entries.slice(first, first + BLOCK);
    const [keys, values] = [block.map(([each]) => each), block.map(([, each]) => each)];
    const [ofKeys, ofValues] = [codeOfBlock(keys, key.row), codeOfBlock(values, value.row)];
    writer.byte(ofKeys + 4 * ofValues);
    writeBlock(writer, keys, key.row, ofKeys);
    writeBlock(writer, values, value.row, ofValues);
  }
  writer.depth--;
}

/** Looks at every value, so that nothing is written of a row that cannot be. */
function codesOf(writer, values, element) {
  writer.enter();
  // Not forEach(), which passes over holes.
  for (let index = 0; index < values.length; index++) writer.at(index, () => element.check(writer, values[index]));
  writer.depth--;
  const blocks = Array.from({ length: blocksOf(values.length) }, (_, block) => blockOf(values, block));
  return blocks.map((block) => codeOfBlock(block, element.row));
}

const blockOf = (values, block) => values.slice(block * BLOCK, (block + 1) * BLOCK);
const codeOfBlock = (values, row) => values.reduce((most, each) => Math.max(most, codeOf(each, row)), 0);

function codeOf(value, { size, signed }) {
  const one = typeof value === "bigint" ? 1n : 1;
  const magnitude = signed && value < 0 ? -(value + one) : value; // what needs as many bits, without the sign's
  const bits = (width) => 8 * width - (signed ? 1 : 0);
  return WIDTHS.findIndex((width) => width === size || magnitude < 2 ** bits(width));
}

function writeCodes(writer, codes) {
  const start = writer.room(codeBytes(codes.length));
  codes.forEach((code, at) => (writer.bytes[start + (at >> 2)] |= code << (2 * (at & 3))));
}

function writeBlocks(writer, values, element, codes) {
  codes.forEach((code, block) => writeBlock(writer, blockOf(values, block), element.row, code));
}

function writeBlock(writer, values, { signed }, code) {
  const width = WIDTHS[code];
  const start = writer.room(width * values.length);
  const method = `set${width === 8 ? "Big" : ""}${signed ? "Int" : "Uint"}${8 * width}`;
  values.forEach((each, item) => writer.view[method](start + item * width, width < 8 ? Number(each) : each, true));
}
