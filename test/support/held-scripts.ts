import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Teardown } from './service.js';

/** Scripts that run until a test lets them end: each waits for the answer to a request. */
export interface HeldScripts {
  /** The script; its result is 1. */
  readonly js: string;
  /** How many run at this moment: their requests wait for an answer. */
  running(): number;
  /** Answers all that wait. */
  finish(): void;
}

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** Puts a collection into the home whose only request is answered by {@link HeldScripts.finish}. */
export async function holdScripts(t: Teardown, home: string): Promise<HeldScripts> {
  const waiting = new Set<ServerResponse>();
  const server = createServer((_, response) => {
    waiting.add(response);
    response.once('close', () => waiting.delete(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo; // A server that listens on a port has an address of this kind.
  const item = [{ name: 'Wait', request: { method: 'GET', header: [], url: `http://127.0.0.1:${port}/` } }];
  mkdirSync(join(home, 'requests'), { recursive: true });
  writeFileSync(join(home, 'requests', 'held.json'), JSON.stringify({ info: { name: 'Held', schema: SCHEMA }, item }));
  return {
    js: `Request.run('held/Wait'); 1`,
    running: () => waiting.size,
    finish() {
      for (const response of waiting) response.end();
    },
  };
}
