import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, deflate, inflate, inflateSync } from 'node:zlib';
import type { PaintMark } from '../tabs/page-calls.js';

const inflated = promisify(inflate);
const deflated = promisify(deflate);

/** The mark in CSS pixels: two fields side by side in the page's upper left corner. */
export const MARK_WIDTH = 16;
const MARK_HEIGHT = 8;
/** Brightness that each channel of the left field may have. The right field has the opposite, which no page has by chance. */
const LEVELS = [40, 128, 216];
/** All three in the middle would be grey beside grey. */
const GREY = 13;
/** Marks are used in turn: a picture that comes so many steps late is nobody's. */
export const MARKS = LEVELS.length ** 3 - 1;
/** How far a channel may be off. */
const TOLERANCE = 12;
/** Compressed bytes that hold the begin of a picture's first row. */
const HEAD_BYTES = 1024;
const SIGNATURE_BYTES = 8;
/** Speed, not size: the same pictures are stored once. */
const LEVEL = 2;

type Color = PaintMark['left'];

/** The colors of a mark. */
export function markOf(number: number): PaintMark {
  const index = number < GREY ? number : number + 1;
  const channel = (divisor: number): number => LEVELS[Math.floor(index / divisor) % LEVELS.length] ?? 0;
  const left: Color = [channel(1), channel(3), channel(9)];
  return { left, right: opposite(left) };
}

/**
 * Which mark a picture bears; null for none.
 *
 * @param png as Chromium makes it: 8 bits a channel, not interlaced
 * @param viewport the width of what it shows, in CSS pixels
 */
export function readMark(png: Buffer, viewport: number): number | null {
  const { width, bytesPerPixel, data } = partsOf(png, HEAD_BYTES);
  if (width === 0 || viewport <= 0) return null;
  const scale = width / viewport;
  const head = inflateSync(data, { finishFlush: constants.Z_SYNC_FLUSH });
  const pixels = Math.ceil(MARK_WIDTH * scale);
  if (head.length < 1 + pixels * bytesPerPixel) return null;
  const row = unfiltered(head, 0, pixels * bytesPerPixel, bytesPerPixel, null);
  const at = (part: number): readonly number[] => {
    const x = Math.floor(MARK_WIDTH * scale * part) * bytesPerPixel;
    return [...row.subarray(x, x + 3)];
  };
  const left = at(0.25);
  const digits = left.map((value) => LEVELS.findIndex((level) => Math.abs(level - value) <= TOLERANCE));
  const [low = -1, middle = -1, high = -1] = digits;
  if (low < 0 || middle < 0 || high < 0) return null;
  const index = low + 3 * middle + 9 * high;
  if (index === GREY || !alike(at(0.75), opposite(colorOf(digits)))) return null;
  return index < GREY ? index : index - 1;
}

/** A picture without its mark, and what tells its pixels from those of others. */
export async function withoutMark(
  png: Buffer,
  viewport: number,
): Promise<{ readonly png: Buffer; readonly pixels: string }> {
  const { width, height, bytesPerPixel, header, data } = partsOf(png, Number.POSITIVE_INFINITY);
  const raw = await inflated(data);
  const stride = width * bytesPerPixel;
  const scale = width / viewport;
  const erased = Math.min(width - 1, Math.ceil(MARK_WIDTH * scale) + 1);
  // The row below the last that is changed was stored as the difference to that one.
  const rows = Math.min(height, Math.ceil(MARK_HEIGHT * scale) + 2);
  let above: Buffer | null = null;
  for (let y = 0; y < rows; y += 1) {
    const begin = y * (stride + 1);
    const row = unfiltered(raw, begin, stride, bytesPerPixel, above);
    above = Buffer.from(row);
    if (y < rows - 1) {
      const beside = row.subarray(erased * bytesPerPixel, (erased + 1) * bytesPerPixel);
      for (let x = 0; x < erased; x += 1) beside.copy(row, x * bytesPerPixel);
    }
    raw[begin] = 0;
    row.copy(raw, begin + 1);
  }
  const packed = await deflated(raw, { level: LEVEL });
  const pixels = createHash('sha1').update(`${width}x${height}`).update(raw).digest('base64');
  const signature = png.subarray(0, SIGNATURE_BYTES);
  return {
    png: Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', packed), chunk('IEND', Buffer.alloc(0))]),
    pixels,
  };
}

/** The part in the upper left corner of a picture that has a mark, in its pixels; null for none, and if it cannot be read. */
export function markedPart(png: Buffer, viewport: number): { readonly width: number; readonly height: number } | null {
  try {
    if (readMark(png, viewport) === null) return null;
  } catch {
    return null;
  }
  const scale = partsOf(png, 1).width / viewport;
  return { width: Math.ceil(MARK_WIDTH * scale) + 1, height: Math.ceil(MARK_HEIGHT * scale) + 1 };
}

function colorOf(digits: readonly number[]): Color {
  const [red = 0, green = 0, blue = 0] = digits.map((digit) => LEVELS[digit] ?? 0);
  return [red, green, blue];
}

function opposite([red, green, blue]: Color): Color {
  return [255 - red, 255 - green, 255 - blue];
}

function alike(one: readonly number[], other: readonly number[]): boolean {
  return one.every((value, channel) => Math.abs(value - (other[channel] ?? 0)) <= TOLERANCE);
}

/** What a PNG consists of (https://www.w3.org/TR/png/), with so many bytes of its compressed pixels. */
function partsOf(png: Buffer, most: number) {
  const parts: Buffer[] = [];
  let header = Buffer.alloc(13);
  let bytes = 0;
  for (let at = SIGNATURE_BYTES; at + 12 <= png.length && bytes < most; ) {
    const length = png.readUInt32BE(at);
    const kind = png.toString('latin1', at + 4, at + 8);
    const content = png.subarray(at + 8, at + 8 + length);
    if (kind === 'IHDR') header = Buffer.from(content);
    if (kind === 'IDAT') {
      parts.push(content.subarray(0, Math.min(content.length, most - bytes)));
      bytes += content.length;
    }
    at += length + 12;
  }
  const isRgb = header[8] === 8 && (header[9] === 2 || header[9] === 6) && header[12] === 0;
  return {
    header,
    width: isRgb ? header.readUInt32BE(0) : 0,
    height: header.readUInt32BE(4),
    bytesPerPixel: header[9] === 6 ? 4 : 3,
    data: Buffer.concat(parts),
  };
}

/** The begin of a row as its pixels (https://www.w3.org/TR/png/#9Filters). */
function unfiltered(raw: Buffer, begin: number, bytes: number, bytesPerPixel: number, above: Buffer | null): Buffer {
  const filter = raw[begin] ?? 0;
  const row = Buffer.from(raw.subarray(begin + 1, begin + 1 + bytes));
  for (let x = 0; x < bytes; x += 1) {
    const left = x < bytesPerPixel ? 0 : (row[x - bytesPerPixel] ?? 0);
    const up = above?.[x] ?? 0;
    const corner = x < bytesPerPixel ? 0 : (above?.[x - bytesPerPixel] ?? 0);
    row[x] = ((row[x] ?? 0) + predicted(filter, left, up, corner)) & 0xff;
  }
  return row;
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const guess = left + up - corner;
  const [toLeft, toUp, toCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

const CRC_TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
  return crc;
});

function chunk(kind: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(kind, 'latin1'), content]);
  let crc = -1;
  for (const byte of body) crc = (CRC_TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(content.length, 0);
  body.copy(whole, 4);
  whole.writeInt32BE(~crc, whole.length - 4);
  return whole;
}
