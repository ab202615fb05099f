import pino from 'pino';
import { plainText, printableJson } from '../base/plain-text.js';

/** Structured fields of a log line. Never a secret, nor anything that a page or a script chose. */
export interface LogAbout {
  readonly session?: string;
  /** The line belongs to the audit log: somebody changed something. */
  readonly audit?: boolean;
  readonly [name: string]: string | number | boolean | null | undefined;
}

/** Writes one line. */
export type Log = (line: string, about?: LogAbout) => void;

/** The output; it must not throw. */
export interface LogTarget {
  write(text: string): void;
}

/**
 * The service's log. `text` is for people: timestamp, session, message. `json` is for log collectors: one JSON object
 * per line, as pino writes it, with `level`, `time` (ISO 8601), `msg`, and each member of {@link LogAbout}.
 */
export function makeLog(format: 'text' | 'json', target: LogTarget): Log {
  if (format === 'json') {
    const logger = pino(
      { base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
      { write: (text) => target.write(printableJson(text)) },
    );
    return (line, about = {}) => logger.info(about, line);
  }
  return (line, about = {}) => {
    const session = about.session === undefined ? '' : `session ${about.session}: `;
    target.write(`${new Date().toISOString()} ${session}${plainText(line)}\n`);
  };
}
