import { type CommandRef, quoted, readCommand, writeAnswer, writeCommand } from './devtools-command.js';
import { refusalOf } from './devtools-methods.js';
import { checkParams, type SessionPlaces } from './devtools-params.js';

/** Codes of JSON-RPC 2.0, section 5.1, and of a server's own errors, as Chromium uses them. */
const NOT_A_COMMAND = -32_600;
const REFUSED = -32_000;

/** What is to be done with a message. Only `forward` has anything to do with the browser. */
export type Verdict =
  | {
      readonly kind: 'forward';
      readonly text: string;
      /** Of the protocol's session that the command is for; undefined for the browser itself. */
      readonly sessionId: string | undefined;
    }
  /** The text goes to the client. */
  | { readonly kind: 'answer'; readonly text: string }
  /** The client wants the browser closed, and waits for the answer to this command. */
  | { readonly kind: 'close'; readonly command: CommandRef };

/**
 * Decides what a client of Chrome's DevTools protocol may have a session's browser do. A message is read as JSON, judged by
 * its method and parameters, and passed on as it was read, never as it was written: what it looks like decides nothing.
 * What leads to another place than the session's pages and folders is answered with an error that says what to use.
 */
export class DevToolsFilter {
  readonly #places: SessionPlaces;

  constructor(places: SessionPlaces) {
    this.#places = places;
  }

  /** @param isText whether it came as text; the protocol has no other messages */
  judge(message: Buffer, isText: boolean): Verdict {
    if (!isText) {
      const error = { code: NOT_A_COMMAND, message: 'The message is binary; send text' };
      return { kind: 'answer', text: JSON.stringify({ id: null, error }) };
    }
    const command = readCommand(message.toString('utf8'));
    if ('code' in command) {
      const { code, message } = command;
      return { kind: 'answer', text: writeAnswer(command, { error: { code, message } }) };
    }
    const { method } = command;
    const refusal = refusalOf(method);
    if (refusal !== null) return this.#refuse(command, method, refusal);
    if (method === 'Browser.close') return { kind: 'close', command };
    const checked = checkParams(method, command.params ?? {}, this.#places);
    if ('refusal' in checked) return this.#refuse(command, method, checked.refusal);
    return {
      kind: 'forward',
      text: writeCommand({ ...command, params: checked.params }),
      sessionId: command.sessionId,
    };
  }

  #refuse(command: CommandRef, method: string, reason: string): Verdict {
    return { kind: 'answer', text: writeRefusal(command, `${quoted(method)} is refused: ${reason}`) };
  }
}

/** The answer to a command that is not carried out. */
export function writeRefusal(command: CommandRef, message: string): string {
  return writeAnswer(command, { error: { code: REFUSED, message } });
}
