import { settlesWithin } from '../../base/deadline.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import type { Picture } from './result-content.js';

/** A script that writes nothing and takes no picture is not watched: its answer need not wait for the journal's commit. */
const MAY_LEAVE = /\bconsole\b|\bFlow\b|\bscreenshot\b/;
/** The last lines arrive with the script's end, which is written to disk at about this time. */
const LAST_LINES_MS = 1_000;
const MAX_CHARS = 4_000;
/** Further pictures are left to the session's artifacts. */
const MAX_PICTURES = 100;

/** What a script left besides its result. Read it after the script has ended. */
export interface ScriptWatch {
  /** The lines of its console as one text, empty if there are none. */
  text(): Promise<string>;
  /** The pictures that it took, in their order. */
  pictures(): Promise<readonly Picture[]>;
  /** Idempotent. */
  stop(): void;
}

/** Collects what a script writes and the pictures it takes from its session's events. Call it before the script runs. */
export function watchScript(sessions: Sessions, sessionId: string, source: string): ScriptWatch {
  if (!MAY_LEAVE.test(source)) return { text: async () => '', pictures: async () => [], stop: () => undefined };
  const stopped = new AbortController();
  let text = '';
  const pictures: Picture[] = [];
  const read = async (): Promise<void> => {
    const selection = { id: sessionId, after: sessions.streams.lastSeq(), signal: stopped.signal };
    // Other clients may use the session too; its scripts run one after another.
    let script: number | null = null;
    for await (const { type, data } of sessions.streams.events(selection)) {
      if (type === 'ScriptStarted' && script === null && data.js === source) script = data.script;
      if (type === 'ScriptFinished' && data.script === script) return;
      if (type === 'ScreenshotTaken' && script !== null && pictures.length < MAX_PICTURES) pictures.push(data);
      if (type !== 'ConsoleWritten' || script === null || text.length > MAX_CHARS) continue;
      text += `${data.level === 'log' ? '' : `${data.level}: `}${data.text}\n`;
    }
  };
  const ended = read().catch(() => undefined);
  const atEnd = async (): Promise<void> => {
    if (!(await settlesWithin(ended, LAST_LINES_MS))) stopped.abort();
    await ended;
  };
  return {
    async pictures() {
      await atEnd();
      return pictures;
    },
    async text() {
      await atEnd();
      return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}… (cut)` : text.trimEnd();
    },
    stop: () => stopped.abort(),
  };
}
