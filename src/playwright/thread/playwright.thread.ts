import { stripVTControlCharacters } from 'node:util';
import { type MessagePort, parentPort } from 'node:worker_threads';
import { expose } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { type ErrorBody, encodeError, TroupeError } from '../../protocol/errors.js';
import type { Reply, ThreadCall, ThreadExpect } from '../wire.js';
import { Connection } from './connection.js';
import { errors } from './playwright-library.js';

/** An error crosses threads as data. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ErrorBody };

const connections = new Map<number, Connection>();
let last = 0;

/** What sessions ask of the thread. */
const thread = {
  open: (port: MessagePort): Promise<Outcome<number>> =>
    outcome(async () => {
      const connection = await Connection.open(port);
      const id = ++last;
      connections.set(id, connection);
      return id;
    }),
  call: (id: number, call: ThreadCall): Promise<Outcome<Reply>> => outcome(() => connectionOf(id).call(call)),
  settle: (id: number, ticket: number): Promise<Outcome<Reply>> => outcome(() => connectionOf(id).settle(ticket)),
  expect: (id: number, call: ThreadExpect): Promise<Outcome<void>> => outcome(() => connectionOf(id).expect(call)),
  isSecret: (id: number, call: ThreadCall): Promise<Outcome<boolean>> => outcome(() => connectionOf(id).isSecret(call)),
  fresh: (id: number, how: Pick<ThreadCall, 'targetId' | 'defaultMs'>): Promise<Outcome<void>> =>
    outcome(() => connectionOf(id).fresh(how)),
  isRouted: (id: number, url: string): Promise<Outcome<boolean>> => outcome(async () => connectionOf(id).isRouted(url)),
  close: (id: number): Promise<Outcome<void>> =>
    outcome(async () => {
      const connection = connections.get(id);
      connections.delete(id);
      await connection?.close();
    }),
  /** Answers if the thread is not busy. */
  ping: (): void => undefined,
};

export type PlaywrightCalls = typeof thread;

function connectionOf(id: number): Connection {
  const connection = connections.get(id);
  if (connection === undefined) throw new TroupeError('SESSION_RESTARTED', 'Playwright was disconnected; try again');
  return connection;
}

async function outcome<T>(work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error: encodeError(withCode(error)) };
  }
}

/** An error of the library with one of our codes and its own text, call log included. */
function withCode(error: unknown): unknown {
  if (error instanceof TroupeError || !(error instanceof Error)) return error;
  const text = stripVTControlCharacters(error.message);
  if (error instanceof errors.TimeoutError) return new TroupeError('WAIT_TIMEOUT', text);
  if (text.includes('strict mode violation')) return new TroupeError('LOCATOR_AMBIGUOUS', text);
  return new TroupeError('ACTION_FAILED', text);
}

if (parentPort === null) throw new Error('This file is the thread of Playwright');
expose(thread, nodeEndpoint(parentPort));
