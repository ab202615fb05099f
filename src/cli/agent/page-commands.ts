import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { resultText } from '../../gateway/mcp/result-content.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import { ACT, GO, LOOK, SHOT, TEXT } from '../../terminal/commands/agent-commands.js';
import type { Options } from '../../terminal/commands/command.js';
import { UsageError } from '../../terminal/failure.js';
import { print, printError } from '../../terminal/output.js';
import { checkWords, parseWords } from '../../terminal/parse-options.js';
import { reported } from './report-failure.js';
import { makeSession } from './session-command.js';
import { agentService, chosenSession, isNamed, type SessionOptions, usedSession } from './used-session.js';

/** Values of these actions that look like JSON are. */
const STRUCTURED = ['drag', 'wheel', 'select'];

/** `troupe look`: the controls of the page, and later what has changed of them. */
export async function runLook(args: readonly string[]): Promise<number> {
  const { values } = read(args, [], 0, LOOK);
  const { full, within, ...session } = values;
  const options = { ...(full ? { full } : {}), ...(within === undefined ? {} : { within }) };
  return reported(() => printed(session, call('agent.look', options)));
}

/** `troupe go URL`: opens an address, in a new session if there is none yet. */
export async function runGo(args: readonly string[]): Promise<number> {
  const { values, words } = read(args, ['URL'], 1, GO);
  const { look, ...session } = values;
  const script = call('agent.go', words[0]) + (look ? '; agent.look()' : '');
  return reported(async () => {
    if ((await chosenSession(session)) === undefined) return begin(session, script);
    try {
      await printed(session, script);
    } catch (error) {
      // The one that was made last has ended; one that is named must be there.
      const isOver = ['SESSION_ENDED', 'NOT_FOUND'].includes(encodeError(error).code);
      if (!isOver || isNamed(session)) throw error;
      await begin(session, script);
    }
  });
}

/** `troupe act LOCATOR ACTION [VALUE]`. */
export async function runAct(args: readonly string[]): Promise<number> {
  const { values, words } = read(args, ['LOCATOR', 'ACTION', 'VALUE'], 2, ACT);
  const { look, json = false, timeout, ...session } = values;
  const [locator = '', action = '', text] = words;
  if (timeout !== undefined && !/^\d{1,7}$/.test(timeout)) throw new UsageError('--timeout takes milliseconds');
  const value = text === undefined ? [] : [actionValue(action, text, json)];
  const last = timeout === undefined ? [] : [{ timeout: Number(timeout) }];
  const script = call('agent.act', locator, action, ...value, ...last);
  return reported(() => printed(session, script + (look ? '; agent.look()' : '')));
}

/** `troupe text [LOCATOR]`. */
export async function runText(args: readonly string[]): Promise<number> {
  const { values, words } = read(args, ['LOCATOR'], 0, TEXT);
  return reported(() => printed(values, call('agent.text', ...words)));
}

/** `troupe shot [FILE]`: saves a picture of the page. */
export async function runShot(args: readonly string[]): Promise<number> {
  const { values, words } = read(args, ['FILE'], 0, SHOT);
  const { within, marks, ...session } = values;
  const options = { title: 'shot', ...(within === undefined ? {} : { within }), ...(marks ? { marks } : {}) };
  return reported(async () => {
    const used = await usedSession(session);
    const { file } = await used.run<{ readonly file: string }>(call('agent.screenshot', options));
    const path = resolve(words[0] ?? file);
    await writeFile(path, await used.screenshot(file)).catch((cause: unknown) => {
      throw new TroupeError('INVALID_REQUEST', `${path} cannot be written: ${encodeError(cause).error}`);
    });
    print(`${path}\n`);
  });
}

async function begin({ url }: SessionOptions, script: string): Promise<void> {
  const troupe = await agentService(url);
  const id = await makeSession(troupe, {}, url);
  printError(`session ${id}\n`);
  print(`${resultText(await troupe.sessions.get(id).run(script), undefined)}\n`);
}

async function printed(session: SessionOptions, script: string): Promise<void> {
  const value = await (await usedSession(session)).run(script);
  print(`${resultText(value, undefined)}\n`);
}

function read<O extends Options>(
  args: readonly string[],
  names: readonly string[],
  least: number,
  command: { readonly options: O },
) {
  const { values, positionals: words } = parseWords(args, command);
  checkWords(words, names, least);
  return { values, words };
}

function actionValue(action: string, text: string, isJson: boolean): unknown {
  if (action === 'scroll' && /^-?\d+$/.test(text)) return Number(text);
  const isStructured =
    isJson || (STRUCTURED.includes(action) && /^[[{].*[\]}]$/s.test(text) && !/^\{[^":]*\}/.test(text));
  if (!isStructured) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`The value is not JSON: ${text}`);
  }
}

/** A call with its arguments as source. */
function call(name: string, ...values: readonly unknown[]): string {
  const given = values.filter((value) => !isEmpty(value)).map((value) => JSON.stringify(value));
  return `${name}(${given.join(', ')})`;
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}
