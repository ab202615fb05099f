import { settlesWithin } from '../../base/deadline.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import type { Picture } from './result-content.js';

/** Scripts that leave nothing but their result are not watched: they are answered a journal's commit earlier. */
const MAY_LEAVE = /\bconsole\b|\bFlow\b|\bscreenshot\b/;
/** The last lines come with the script's end, which is on disk by then or almost. */
const LAST_LINES_MS = 1_000;
const MAX_CHARS = 4_000;
/** Further pictures are left to the session's artifacts. */
const MAX_PICTURES = 10;

/** What one script has left besides its result, once it has ended. */
export interface ScriptWatch {
  /** The lines of its console as one text, empty where there are none. */
  text(): Promise<string>;
  /** The pictures that it took, in their order. */
  pictures(): Promise<readonly Picture[]>;
  /** Idempotent. */
  stop(): void;
}

/** Watches a script by the events of its session. From before it is run. */
export function watchScript(sessions: Sessions, sessionId: string, source: string): ScriptWatch {
  if (!MAY_LEAVE.test(source)) return { text: async () => '', pictures: async () => [], stop: () => undefined };
  const stopped = new AbortController();
  let text = '';
  const pictures: Picture[] = [];
  const read = async (): Promise<void> => {
    const selection = { id: sessionId, after: sessions.streams.lastSeq(), signal: stopped.signal };
    // Others may use the session too; its scripts run one after another.
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
