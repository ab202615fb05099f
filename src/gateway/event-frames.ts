import type { EventPage, LazyEvent } from '../protocol/event-row.js';

/** Frames by page. Readers share pages, and the frames are collected with them. */
const encoded = new WeakMap<EventPage, Uint8Array>();
const encoder = new TextEncoder();

/** Encodes a page as server-sent events, once for all its readers, in a buffer of its own that keeps no other alive. */
export function framesOf(page: EventPage): Uint8Array {
  const known = encoded.get(page);
  if (known !== undefined) return known;
  const frames = encoder.encode(page.map(frameOf).join(''));
  encoded.set(page, frames);
  return frames;
}

/** The data of an event is already JSON text on one line. */
function frameOf({ seq, row: [sessionId, at, type, data] }: LazyEvent): string {
  const head = `"sessionId":${JSON.stringify(sessionId)},"at":${JSON.stringify(at)},"type":"${type}"`;
  return `id: ${seq}\nevent: ${type}\ndata: {${head},"data":${data},"seq":${seq}}\n\n`;
}
