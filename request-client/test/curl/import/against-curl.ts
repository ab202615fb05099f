import { importCurl } from '#request-client/curl/import/import-curl.js';
import type { RequestDraft } from '#request-client/engine/request.js';
import { HttpSender } from '#request-client/engine/run/send-request.js';
import { comparable, runInBash, type WireCapture, type WireRequest } from '../../wire-capture.js';
import { PLACE } from './posix-commands.js';

export interface Difference {
  readonly command: string;
  readonly byCurl: readonly WireRequest[];
  readonly byUs: readonly WireRequest[];
}

/** Runs each command with bash and curl, and imports and sends it; returns those whose requests differ. */
export async function againstCurl(
  commands: readonly string[],
  capture: WireCapture,
  folder: string,
): Promise<Difference[]> {
  const placed = commands.map((command, index) => command.replaceAll(PLACE, `${capture.origin}/c${index}`));
  await runInBash(placed, folder);
  const byCurl = capture.take();
  await sendAll(
    placed.flatMap((command) => importCurl(command, 'posix').requests),
    folder,
  );
  const byUs = capture.take();
  return placed.flatMap((command, index) => {
    const [curl = [], us = []] = [byCurl, byUs].map((kept) => (kept.get(`c${index}`) ?? []).map(comparable));
    return JSON.stringify(curl) === JSON.stringify(us) ? [] : [{ command, byCurl: curl, byUs: us }];
  });
}

/** Sends requests one after another. */
export async function sendAll(requests: readonly RequestDraft[], folder: string): Promise<void> {
  const sender = new HttpSender();
  try {
    for (const request of requests) {
      const response = await sender.send(request, { timeoutMs: 20_000, folder });
      await response.dispose();
    }
  } finally {
    sender.close();
  }
}

/** For a failing test: the first few, shortened. */
export function describe(differences: readonly Difference[]): unknown[] {
  return differences.slice(0, 12).map(({ command, byCurl, byUs }) => ({
    command: command.slice(0, 300),
    byCurl: JSON.stringify(byCurl).slice(0, 700),
    byUs: JSON.stringify(byUs).slice(0, 700),
  }));
}
