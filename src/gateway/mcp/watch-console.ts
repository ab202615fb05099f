import { settlesWithin } from '../../base/deadline.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';

/** Scripts that cannot write anything are not watched: they are answered a journal's commit earlier. */
const MAY_WRITE = /\bconsole\b|\bFlow\b/;
/** The last lines come with the script's end, which is on disk by then or almost. */
const LAST_LINES_MS = 1_000;
const MAX_CHARS = 4_000;

/** The console of one script. */
export interface ConsoleWatch {
  /** The lines as one text, empty where there are none. Once the script has ended. */
  text(): Promise<string>;
  /** Idempotent. */
  stop(): void;
}

/** Watches what a script writes to its console, as its session's events tell it. From before it is run. */
export function watchConsole(sessions: Sessions, sessionId: string, source: string): ConsoleWatch {
  if (!MAY_WRITE.test(source)) return { text: async () => '', stop: () => undefined };
  const stopped = new AbortController();
  let text = '';
  const read = async (): Promise<void> => {
    const selection = { id: sessionId, after: sessions.streams.lastSeq(), signal: stopped.signal };
    // Others may use the session too; its scripts run one after another.
    let script: number | null = null;
    for await (const { type, data } of sessions.streams.events(selection)) {
      if (type === 'ScriptStarted' && script === null && data.js === source) script = data.script;
      if (type === 'ScriptFinished' && data.script === script) return;
      if (type !== 'ConsoleWritten' || script === null || text.length > MAX_CHARS) continue;
      text += `${data.level === 'log' ? '' : `${data.level}: `}${data.text}\n`;
    }
  };
  const ended = read().catch(() => undefined);
  return {
    async text() {
      if (!(await settlesWithin(ended, LAST_LINES_MS))) stopped.abort();
      await ended;
      return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}… (cut)` : text.trimEnd();
    },
    stop: () => stopped.abort(),
  };
}
