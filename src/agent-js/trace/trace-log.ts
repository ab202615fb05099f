import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { appendFile } from '../../files/thread-files.js';
import type { TraceLine } from '../../protocol/trace/trace.js';
import type { CdpEvent, CdpRemoteObject } from '../browser/cdp.js';

/** Console lines and errors of a session's pages. */
const MAX_LINES = 5_000;
/** Longer texts are cut, in characters. */
const MAX_TEXT = 2_000;
/** Sources of flows, in characters together. */
const MAX_SOURCES = 8 * 1024 * 1024;
/** Written in pieces, at most so often. */
const FLUSH_MS = 1_000;

/**
 * What only a session's trace needs: the console of its pages, and the sources of its flows as they ran. A file of JSON
 * lines that grows while the session runs. Owned by the session actor.
 */
export class TraceLog {
  readonly #file: string;
  readonly #redact: <T>(value: T) => T;
  readonly #sources = new Map<string, string>();
  #lines = 0;
  #sourceCharacters = 0;
  #waiting: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The write under way; never rejects. */
  #writing: Promise<void> = Promise.resolve();

  /** @param options.redact takes out of a line what nobody may see */
  constructor(options: { readonly file: string; readonly redact: <T>(value: T) => T }) {
    this.#file = options.file;
    this.#redact = options.redact;
  }

  observe(event: CdpEvent): void {
    switch (event.method) {
      case 'Runtime.consoleAPICalled': {
        if (!this.#hasPlace()) return;
        const { type, args, timestamp, stackTrace } = event.params;
        const [from] = stackTrace?.callFrames ?? [];
        this.#write({
          kind: 'console',
          at: timestamp,
          level: type,
          text: this.#cut(args.map(textOf).join(' ')),
          url: this.#cut(from?.url ?? ''),
          line: (from?.lineNumber ?? -1) + 1,
          column: (from?.columnNumber ?? -1) + 1,
        });
        return;
      }
      case 'Runtime.exceptionThrown': {
        if (!this.#hasPlace()) return;
        const { timestamp: at, exceptionDetails } = event.params;
        const { text, exception, url = '' } = exceptionDetails;
        const shown = exception?.description ?? `${text} ${exception === undefined ? '' : textOf(exception)}`.trimEnd();
        this.#write({ kind: 'error', at, text: this.#cut(shown), url: this.#cut(url) });
        return;
      }
      default:
    }
  }

  /** Keeps the source of a flow that runs now. */
  source(flow: string, text: string): void {
    if (this.#sources.get(flow) === text) return;
    if (this.#sourceCharacters > MAX_SOURCES) return;
    this.#sourceCharacters += text.length;
    if (this.#sourceCharacters > MAX_SOURCES) {
      this.#dropped('Sources of further flows are not in the trace: 8 MB of them is the limit');
      return;
    }
    this.#sources.set(flow, text);
    this.#write({ kind: 'source', flow, text: this.#redact(text) });
  }

  /** Writes what is left. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flush();
    await this.#writing;
  }

  #hasPlace(): boolean {
    this.#lines += 1;
    if (this.#lines === MAX_LINES + 1) {
      this.#dropped(`Further messages of the pages are not in the trace: ${MAX_LINES} is the limit`);
    }
    return this.#lines <= MAX_LINES;
  }

  #dropped(text: string): void {
    this.#write({ kind: 'dropped', at: Date.now(), text });
  }

  /** A secret that is cut would not be known as one. */
  #cut(text: string): string {
    return this.#redact(text).slice(0, MAX_TEXT);
  }

  #write(line: TraceLine): void {
    this.#waiting.push(`${JSON.stringify(line)}\n`);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, FLUSH_MS);
  }

  #flush(): void {
    if (this.#waiting.length === 0) return;
    const text = this.#waiting.join('');
    this.#waiting = [];
    this.#writing = this.#writing
      .then(() => mkdir(dirname(this.#file), { recursive: true }))
      .then(() => appendFile(this.#file, text))
      // A full disk costs the trace, not the session.
      .catch(() => undefined);
  }
}

function textOf(value: CdpRemoteObject): string {
  if (typeof value.value === 'string') return value.value;
  return (
    value.unserializableValue ??
    value.description ??
    (value.value === undefined ? value.type : JSON.stringify(value.value))
  );
}
