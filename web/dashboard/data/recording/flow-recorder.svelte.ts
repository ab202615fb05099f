import { flowLines } from '../../../../src/protocol/recording/flow-lines.js';
import { Recording } from '../../../../src/protocol/recording/recording.js';
import type { SessionId } from '../../../../src/protocol/session.js';
import { call } from '../api.js';
import type { RecordingEvent } from './recording-events.js';

/** What this tab remembers of a session's recording. */
interface Kept {
  readonly text: string;
  /** The event up to which the text goes. */
  readonly last: number;
  readonly on: boolean;
  /** Events that only picked a locator. */
  readonly picks: readonly number[];
}

const NOTHING: Kept = { text: '', last: 0, on: false, picks: [] };

/**
 * The acts of a person in a session as the text of a flow, which may be edited meanwhile: what is recorded then goes to its
 * end. The text survives a reload of the page.
 */
export class FlowRecorder {
  readonly #id: SessionId;
  readonly #recording = new Recording();
  #kept: Kept;
  #taken = 0;
  text = $state('');
  on = $state(false);
  /** The next click picks a locator (`pick`) or becomes an assertion. */
  armed = $state<'assert' | 'pick' | null>(null);
  picked = $state('');

  constructor(id: SessionId) {
    this.#id = id;
    this.#kept = read(id);
    this.text = this.#kept.text;
    this.on = this.#kept.on;
  }

  /** @param events all of the session's, from its beginning; each is taken once */
  take(events: readonly RecordingEvent[]): void {
    for (const event of events.slice(this.#taken)) {
      if (event.seq <= this.#kept.last) this.#repeat(event);
      else this.#follow(event);
    }
    this.#taken = events.length;
  }

  /** @throws ApiError */
  async record(on: boolean): Promise<void> {
    await call('POST', `api/sessions/${this.#id}/recording`, { recording: on });
    this.on = on;
    this.armed = null;
    this.#keep({});
  }

  /**
   * The next click is none, but says what is there.
   * @throws ApiError
   */
  async arm(what: 'assert' | 'pick'): Promise<void> {
    await call('POST', `api/sessions/${this.#id}/recording`, { recording: true, assertNext: true });
    this.armed = what;
  }

  edit(text: string): void {
    this.text = text;
    this.#keep({});
  }

  #repeat(event: RecordingEvent): void {
    if (event.type === 'ActRecorded' && !this.#kept.picks.includes(event.seq))
      this.#recording.add(event.data.act, event.data.replaces);
  }

  #follow(event: RecordingEvent): void {
    if (event.type === 'SessionRestarted') {
      this.on = false;
      this.armed = null;
      this.#keep({ last: event.seq });
      return;
    }
    const { act, replaces } = event.data;
    if (act.kind === 'expect' && this.armed !== null) {
      const picks = this.armed === 'pick';
      this.armed = null;
      if (picks) {
        this.picked = act.target.locator;
        this.#keep({ last: event.seq, picks: [...this.#kept.picks, event.seq] });
        return;
      }
    }
    const before = flowLines(this.#recording);
    this.#recording.add(act, replaces);
    this.text = continued(this.text, before, flowLines(this.#recording));
    this.#keep({ last: event.seq });
  }

  #keep(changed: Partial<Kept>): void {
    this.#kept = { ...this.#kept, text: this.text, on: this.on, ...changed };
    try {
      sessionStorage.setItem(keyOf(this.#id), JSON.stringify(this.#kept));
    } catch {
      // If the browser stores nothing, a reload brings what was recorded, without the edits.
    }
  }
}

/** The text with the lines that are new at its end. Lines that these replace go, unless they were edited. */
export function continued(text: string, before: readonly string[], after: readonly string[]): string {
  let same = 0;
  while (same < before.length && before[same] === after[same]) same++;
  const gone = before
    .slice(same)
    .map((line) => `${line}\n`)
    .join('');
  const closed = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  const kept = closed.endsWith(gone) ? closed.slice(0, closed.length - gone.length) : closed;
  return (
    kept +
    after
      .slice(same)
      .map((line) => `${line}\n`)
      .join('')
  );
}

function keyOf(id: SessionId): string {
  return `recording ${id}`;
}

function read(id: SessionId): Kept {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(keyOf(id)) ?? 'null');
    return typeof kept === 'object' && kept !== null ? { ...NOTHING, ...kept } : NOTHING;
  } catch {
    return NOTHING;
  }
}
