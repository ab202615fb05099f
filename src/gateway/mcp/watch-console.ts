import { settlesWithin } from '../../base/deadline.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';

/** A script that cannot write to the console is not watched: its answer need not wait for the journal's commit. */
const MAY_WRITE = /\bconsole\b|\bFlow\b/;
/** The last lines arrive with the script's end, which is written to disk at about this time. */
const LAST_LINES_MS = 1_000;
const MAX_CHARS = 4_000;

/** The console of one script. */
export interface ConsoleWatch {
  /** The lines as one text, empty if there are none. Called after the script has ended. */
  text(): Promise<string>;
  /** Idempotent. */
  stop(): void;
}

/** Collects what a script writes to its console from its session's events. Called before the script runs. */
export function watchConsole(sessions: Sessions, sessionId: string, source: string): ConsoleWatch {
  if (!MAY_WRITE.test(source)) return { text: async () => '', stop: () => undefined };
  const stopped = new AbortController();
  let text = '';
  const read = async (): Promise<void> => {
    const selection = { id: sessionId, after: sessions.streams.lastSeq(), signal: stopped.signal };
    // Other clients may use the session too; its scripts run one after another.
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
