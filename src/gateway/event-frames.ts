import type { EventPage, LazyEvent } from '../protocol/event-row.js';

/** By page, which readers share: gone with it. */
const made = new WeakMap<EventPage, Uint8Array>();
const encoder = new TextEncoder();

/** A page as server-sent events, made once for all its readers; a buffer of its own, which pins no other. */
export function framesOf(page: EventPage): Uint8Array {
  const known = made.get(page);
  if (known !== undefined) return known;
  const frames = encoder.encode(page.map(frameOf).join(''));
  made.set(page, frames);
  return frames;
}

/** The data of an event is JSON text already, and on one line. */
function frameOf({ seq, row: [sessionId, at, type, data] }: LazyEvent): string {
  const head = `"sessionId":${JSON.stringify(sessionId)},"at":${JSON.stringify(at)},"type":"${type}"`;
  return `id: ${seq}\nevent: ${type}\ndata: {${head},"data":${data},"seq":${seq}}\n\n`;
}
