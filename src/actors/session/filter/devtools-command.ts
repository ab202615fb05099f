/** Chromium accepts protocol messages up to a depth of 300; one that it rejects itself is answered without its id. */
const MAX_DEPTH = 290;
/**
 * Values in one message. An empty object of two bytes takes up to 60 when parsed: without this limit a message of 64
 * MiB could use up the memory of the service. An uploaded file is one value.
 */
const MAX_VALUES = 1_000_000;
const MAX_ID = 2 ** 31 - 1;
/** Chromium's have 32 letters. Answers repeat the id, so longer ones are rejected. */
const MAX_SESSION_ID = 256;
const KEYS: ReadonlySet<string> = new Set(['id', 'method', 'params', 'sessionId']);
/** Codes of JSON-RPC 2.0, section 5.1. */
const NOT_JSON = -32_700;
const NOT_A_COMMAND = -32_600;

export type Params = Readonly<Record<string, unknown>>;

/** The members of an answer that let the client match it to its command. */
export interface CommandRef {
  readonly id: number;
  readonly sessionId: string | undefined;
}

/** One command of a client of the DevTools protocol. */
export interface DevToolsCommand extends CommandRef {
  readonly method: string;
  readonly params: Params | undefined;
}

/** A message that is not a valid command. */
export interface Malformed {
  /** Of JSON-RPC. */
  readonly code: number;
  readonly message: string;
  /** Null if the message has no valid id. */
  readonly id: number | null;
  readonly sessionId: string | undefined;
}

/**
 * Reads one message strictly, so that Chromium cannot read it in another way: no unknown members, no number that
 * JavaScript or Chromium cannot represent, no nesting that Chromium rejects. Of a repeated key the last one counts.
 * Only the parsed command is ever forwarded.
 */
export function readCommand(text: string): DevToolsCommand | Malformed {
  if (countValues(text) > MAX_VALUES) {
    return malformed(`The message has more than ${MAX_VALUES} values; send it in parts`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ...malformed('The message is not JSON; send one command as a JSON object'), code: NOT_JSON };
  }
  if (!isRecord(value)) return malformed('The message is not a JSON object; send one command in each message');
  const { id, method, params, sessionId } = value;
  if (typeof id !== 'number' || !Number.isInteger(id) || Math.abs(id) > MAX_ID) {
    return malformed('"id" must be an integer of at most 31 bits');
  }
  if (sessionId !== undefined && (typeof sessionId !== 'string' || sessionId.length > MAX_SESSION_ID)) {
    return malformed(`"sessionId" must be a string of at most ${MAX_SESSION_ID} letters`, id);
  }
  // Chromium treats '' as absent.
  const session = sessionId === '' ? undefined : sessionId;
  const refuse = (message: string) => malformed(message, id, session);
  const unknown = Object.keys(value).find((key) => !KEYS.has(key));
  if (unknown !== undefined) {
    return refuse(`${quoted(unknown)} is not a member of a command; use "id", "method", "params" and "sessionId"`);
  }
  if (typeof method !== 'string') return refuse('"method" must be a string');
  // Chromium treats null as absent, and clients in typed languages send it.
  if (params !== undefined && params !== null && !isRecord(params)) return refuse('"params" must be an object');
  const fault = faultOf(params, 2);
  if (fault !== null) return refuse(fault);
  return { id, method, params: params ?? undefined, sessionId: session };
}

/** The command as JSON, with each member once and only necessary escapes; control characters are always escaped. */
export function writeCommand({ id, method, params, sessionId }: DevToolsCommand): string {
  return JSON.stringify({ id, method, params, sessionId });
}

/** An answer of the service in the form of the protocol, for the protocol session that sent the command. */
export function writeAnswer(
  { id, sessionId }: CommandRef | Malformed,
  outcome: Readonly<Record<string, unknown>>,
): string {
  return JSON.stringify({ id, sessionId, ...outcome });
}

/** Text of a client in an error message: shortened, without control characters. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text);
}

export function isRecord(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function malformed(message: string, id: number | null = null, sessionId?: string): Malformed {
  return { code: NOT_A_COMMAND, message, id, sessionId };
}

/**
 * An upper bound of the values that JSON.parse would make, exact but for empty objects and arrays. Strings are skipped.
 */
function countValues(text: string): number {
  let count = 1;
  for (let index = 0; index < text.length && count <= MAX_VALUES; index += 1) {
    const letter = text[index];
    if (letter === '"') index = endOfString(text, index + 1);
    else if (letter === ',' || letter === '[' || letter === '{') count += 1;
  }
  return count;
}

/** The index of the closing quote; the text's length if there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (end - slashes > start && text[end - slashes - 1] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

function faultOf(value: unknown, depth: number): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'A number in "params" is too large';
  if (typeof value !== 'object' || value === null) return null;
  if (depth > MAX_DEPTH) return `"params" is nested deeper than ${MAX_DEPTH}`;
  for (const part of Array.isArray(value) ? value : Object.values(value)) {
    const fault = faultOf(part, depth + 1);
    if (fault !== null) return fault;
  }
  return null;
}
