/** A server-sent event, as the service sent it. */
export interface ServerEvent {
  /** '' if it has none. */
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

/** What is kept of an event's text, in characters. */
const KEPT = 4_000;

/** Takes a stream of server-sent events apart. Of a long event it keeps the beginning. */
export class EventFrames {
  #rest = '';
  /** The rest of an event of which the beginning was returned already is ignored. */
  #skipping = false;

  /** The events that end in the next text of the stream. */
  take(text: string): readonly ServerEvent[] {
    const blocks = (this.#rest + text).replaceAll('\r\n', '\n').split('\n\n');
    this.#rest = blocks.pop() ?? '';
    const events = blocks.flatMap((block) => {
      const isRest = this.#skipping;
      this.#skipping = false;
      return isRest ? [] : eventOf(block);
    });
    if (this.#skipping) this.#rest = this.#rest.slice(-1);
    else if (this.#rest.length > 2 * KEPT) {
      events.push(...eventOf(this.#rest));
      this.#skipping = true;
      this.#rest = this.#rest.slice(-1);
    }
    return events;
  }
}

function eventOf(block: string): ServerEvent[] {
  const of: { [field: string]: string[] } = {};
  for (const line of block.split('\n')) {
    const [, field = '', value = ''] = /^(id|event|data): ?(.*)$/s.exec(line) ?? [];
    if (field !== '') of[field] = [...(of[field] ?? []), value];
  }
  const data = (of.data ?? []).join('\n');
  // Comments, which keep a connection alive, and the time after which a client reconnects are no events.
  if (data === '') return [];
  const kept = data.length > KEPT ? `${data.slice(0, KEPT)} …` : data;
  return [{ id: of.id?.at(-1) ?? '', type: of.event?.at(-1) ?? 'message', data: kept }];
}
