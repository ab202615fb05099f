import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Collection } from '#request-client/engine/collection/collection.js';
import { CollectionRunner } from '#request-client/engine/collection-run/collection-runner.js';
import { readDataRows } from '#request-client/engine/collection-run/data-rows.js';
import { scopesOf } from '#request-client/engine/collection-run/scripts.js';
import { TokenStore } from '#request-client/engine/oauth/token-store.js';
import { type RunSummary, runNewman } from '../../newman.js';

/** One request of a run as both runners report it. */
export interface Ran {
  readonly name: string;
  readonly request: string;
  /** 0 without an answer. */
  readonly status: number;
  /** Whether a script failed; not with which text. */
  readonly scriptFailed: boolean;
  /** `passed name`, `failed name` or `skipped name`. */
  readonly assertions: readonly string[];
  /** Of failed assertions and scripts. */
  readonly messages: readonly string[];
}

export interface Side {
  readonly ran: readonly Ran[];
  readonly environment: Readonly<Record<string, unknown>>;
}

export interface Wanted {
  readonly collection: object;
  readonly environment?: Readonly<Record<string, string>>;
  /** Rows, or the path of a data file. */
  readonly data?: readonly Readonly<Record<string, unknown>>[] | string;
  /** For relative paths of files. */
  readonly folder?: string;
  readonly timeoutMs?: number;
}

/** Runs a collection with this client. */
export async function byTroupe({
  collection,
  environment = {},
  data = [{}],
  folder = '.',
  timeoutMs,
}: Wanted): Promise<Side> {
  const parsed = Collection.parse(JSON.stringify(collection));
  const scopes = scopesOf(parsed, new Map(Object.entries(environment)));
  const runner = new CollectionRunner({
    collection: parsed,
    environment: new Map(),
    scopes,
    folder,
    requestTimeoutMs: timeoutMs ?? 20_000,
    tokens: new TokenStore({ openBrowser: async () => undefined }),
  });
  const ran: Ran[] = [];
  try {
    const rows = typeof data === 'string' ? readDataRows(readFileSync(data), data) : data;
    for (const [index, row] of rows.entries()) {
      const iteration = { index, count: rows.length, data: row };
      await runner.runAll(
        parsed.items,
        async ({ path, request, response, error, tests, skipped }) => {
          await response?.dispose();
          // Newman does not list them.
          if (skipped) return undefined;
          ran.push({
            name: path.at(-1) ?? '',
            request: `${request.method} ${request.url}`,
            status: response?.status ?? 0,
            scriptFailed: error?.code === 'SCRIPT_ERROR',
            assertions: tests.map(({ name, status }) => `${status} ${name}`),
            messages: [
              ...(error === null ? [] : [error.error]),
              ...tests.flatMap(({ message }) => (message === '' ? [] : [message])),
            ],
          });
          return undefined;
        },
        undefined,
        iteration,
      );
    }
  } finally {
    await runner.close();
  }
  return { ran, environment: Object.fromEntries(scopes.environment) };
}

/** Runs a collection with newman. */
export async function byNewman({ collection, environment = {}, data, folder, timeoutMs }: Wanted): Promise<Side> {
  const summary = await runNewman({
    collection,
    environment: { values: Object.entries(environment).map(([key, value]) => ({ key, value, enabled: true })) },
    reporters: [],
    timeoutRequest: timeoutMs ?? 20_000,
    ...(data === undefined ? {} : { iterationData: data }),
    ...(folder === undefined ? {} : { workingDir: dirname(`${folder}/x`) }),
  });
  return {
    ran: ofItems(summary.run.executions).map(
      ({ item, request, response, requestError, assertions, prerequestScript, testScript }) => {
        const failed = [...(prerequestScript ?? []), ...(testScript ?? [])].flatMap(({ error }) =>
          error ? [error.message] : [],
        );
        return {
          name: item.name,
          request: `${request?.method ?? ''} ${request?.url.toString() ?? ''}`,
          status: response?.code ?? 0,
          scriptFailed: failed.length > 0,
          assertions: (assertions ?? []).map(
            ({ assertion, skipped, error }) =>
              `${skipped === true ? 'skipped' : error ? 'failed' : 'passed'} ${assertion}`,
          ),
          messages: [
            ...(requestError ? [requestError.message] : []),
            ...failed,
            ...(assertions ?? []).flatMap(({ error }) => (error ? [`${error.name}: ${error.message}`] : [])),
          ],
        };
      },
    ),
    environment: Object.fromEntries(
      summary.environment.values.members.map(({ key, value }) => [
        key,
        value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value),
      ]),
    ),
  };
}

/** Newman also lists the requests of scripts, under the item of the script and without its tests. */
function ofItems(executions: RunSummary['run']['executions']): RunSummary['run']['executions'] {
  const byCursor = new Map<string, (typeof executions)[number]>();
  for (const execution of executions) {
    const { ref } = execution.cursor;
    const known = byCursor.get(ref) ?? execution;
    const { assertions, prerequestScript, testScript } = execution.assertions === undefined ? known : execution;
    const answered = known.response === undefined ? execution : known;
    byCursor.set(ref, {
      ...answered,
      ...(assertions === undefined ? {} : { assertions }),
      ...(prerequestScript === undefined ? {} : { prerequestScript }),
      ...(testScript === undefined ? {} : { testScript }),
    });
  }
  return [...byCursor.values()];
}

/** What the two runs differ in; empty if they are alike. */
export function differences(ours: Side, theirs: Side): string[] {
  const found: string[] = [];
  const count = Math.max(ours.ran.length, theirs.ran.length);
  for (let index = 0; index < count; index += 1) {
    const [us, them] = [ours.ran[index], theirs.ran[index]];
    if (us === undefined || them === undefined) {
      found.push(`request ${index}: only ${us === undefined ? 'newman' : 'troupe'} sent ${(us ?? them)?.name}`);
      continue;
    }
    const lines = [
      [us.name, them.name],
      [String(us.status), String(them.status)],
      [String(us.scriptFailed), String(them.scriptFailed)],
      // Those of callbacks come in any order.
      [[...us.assertions].sort().join('\n'), [...them.assertions].sort().join('\n')],
    ] as const;
    const differing = lines.filter(([one, other]) => one !== other).map(([one, other]) => `${one} | ${other}`);
    if (differing.length > 0) {
      found.push(`${us.name}: ${differing.join('; ')} (${us.messages.join('; ')} | ${them.messages.join('; ')})`);
    }
  }
  return found;
}
