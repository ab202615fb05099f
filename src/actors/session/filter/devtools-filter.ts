import { type CommandRef, quoted, readCommand, writeAnswer, writeCommand } from './devtools-command.js';
import { refusalOf } from './devtools-methods.js';
import { checkParams, type SessionFolders } from './devtools-params.js';

/** Codes of JSON-RPC 2.0, section 5.1, and of server errors, as Chromium uses them. */
const NOT_A_COMMAND = -32_600;
const REFUSED = -32_000;

/** What to do with a message. Only `forward` involves the browser. */
export type Verdict =
  | {
      readonly kind: 'forward';
      readonly text: string;
      /** The protocol session that the command is for; undefined for the browser itself. */
      readonly sessionId: string | undefined;
    }
  /** The text is sent to the client. */
  | { readonly kind: 'answer'; readonly text: string }
  /** The client closes the browser and waits for the answer to this command. */
  | { readonly kind: 'close'; readonly command: CommandRef };

/**
 * Decides what a client of Chrome's DevTools protocol may do with a session's browser. A message is parsed as JSON,
 * judged by method and parameters, and forwarded as it was parsed, never as it was written, so its spelling does not
 * matter. A command that reaches beyond the session's pages and folders is answered with an error that says what to use
 * instead.
 */
export class DevToolsFilter {
  readonly #folders: SessionFolders;

  constructor(folders: SessionFolders) {
    this.#folders = folders;
  }

  /** @param isText whether it came as text, the only kind of message in the protocol */
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
    const checked = checkParams(method, command.params ?? {}, this.#folders);
    if ('error' in checked) return { kind: 'answer', text: writeRefusal(command, checked.error) };
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

/** The answer to a rejected command. */
export function writeRefusal(command: CommandRef, message: string): string {
  return writeAnswer(command, { error: { code: REFUSED, message } });
}
