import { realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { unstretched } from '#troupe/base/deadline.js';
import { readFile } from '#troupe/files/thread-files.js';
import { type ErrorBody, TroupeError } from '#troupe/protocol/errors.js';
import { readBundle } from '#troupe/script/bundle.js';
import type { HostModule } from '#troupe/script/host-module.js';
import { Collection } from '../collection/collection.js';
import { findItem } from '../collection/find-item.js';
import { asObject } from '../collection/json-access.js';
import { CollectionRunner } from '../collection-run/collection-runner.js';
import type { RequestResult } from '../collection-run/result.js';
import { type Scopes, scopesOf } from '../collection-run/scripts.js';
import { Routes } from '../connection/routes.js';
import { TokenStore } from '../oauth/token-store.js';
import { CookieJar } from '../run/cookie-jar.js';
import type { ReachBounds } from '../run/reach-bounds.js';
import { CredentialRule } from './credential-rule.js';
import { readOrigins } from './origin-list.js';

export interface RequestsModuleOptions {
  /** Absolute; contains collections as `<name>.json`. Need not exist. */
  readonly requestsDir: string;
  readonly reach: ReachBounds;
  /** Proxies and certificates; none by default. */
  readonly routes?: Routes;
}

/** The longest response body for scripts; a longer one is not read completely and fails with an error. */
const MAX_BODY_BYTES = 2 * 1024 * 1024;

/**
 * `Request.run('collection/name', vars?)` of scripts: sends a request of `requests/<collection>.json` with its Before
 * and After scripts; `vars` take precedence over all other variables. Variables set by scripts of a collection,
 * tokens and cookies are kept until the session ends; cookies are those of all collections.
 *
 * NOT_FOUND if the collection or request does not exist, REQUEST_FAILED if there is no answer, MATCH_FAILED if a test
 * of the request failed. Body files are read only below `requestsDir`, and credentials are sent only to origins that
 * the collection names: see {@link CredentialRule}.
 */
export function requestsModule({ requestsDir, reach, routes = new Routes() }: RequestsModuleOptions): HostModule {
  const kept = new Map<string, CollectionState>();
  // One for the session, as in a browser.
  const cookies = new CookieJar();
  return {
    name: 'requests',
    prelude: readBundle(import.meta.url, '../prelude/request'),
    calls: {
      run: async ([wanted, vars], { signal, remainingMs }) => {
        if (typeof wanted !== 'string') throw new TroupeError('SCRIPT_ERROR', "Request.run needs 'collection/request'");
        const { file, name } = await collectionOf(requestsDir, wanted);
        const collection = Collection.parse((await readFile(file)).toString('utf8'));
        const node = findItem(collection.items, name);
        if (node?.kind !== 'request') throw new TroupeError('NOT_FOUND', `${file} has no request '${name}'`);
        const known = kept.get(file) ?? keep(collection, reach, routes);
        kept.set(file, known);
        const { scopes, tokens } = known;
        const rule = new CredentialRule(collection, scopes, await readOrigins(requestsDir));
        known.rule = rule;
        const mask = (text: string): string => rule.mask(tokens.mask(text));
        const runner = new CollectionRunner({
          collection,
          environment: new Map(),
          scopes: { ...scopes, local: variablesIn(vars) },
          folder: dirname(file),
          filesWithin: requestsDir,
          tokens,
          cookies,
          reach: known.reach,
          routes,
          maxBodyBytes: MAX_BODY_BYTES,
          requestTimeoutMs: Math.max(1, Math.floor(unstretched(remainingMs() - 100))),
        });
        try {
          const result = await runner.run(node, signal);
          try {
            return await answerOf(result, mask);
          } finally {
            await result.response?.dispose();
          }
        } finally {
          await runner.close();
        }
      },
    },
  };
}

/** The state of a collection between requests. */
interface CollectionState {
  readonly scopes: Scopes;
  readonly tokens: TokenStore;
  /** Which hosts its requests and token requests may reach. */
  readonly reach: ReachBounds;
  /** For the file as last read. */
  rule: CredentialRule | null;
}

function keep(collection: Collection, reach: ReachBounds, routes: Routes): CollectionState {
  const guarded: ReachBounds = {
    ...reach,
    admit(request, target) {
      reach.admit(request, target);
      known.rule?.assert(request, target);
    },
  };
  const tokens = new TokenStore({
    reach: guarded,
    routes: () => routes,
    openBrowser: async () => {
      throw new Error('nobody can log in while a flow runs; use the grant type Client Credentials');
    },
  });
  const known: CollectionState = { scopes: scopesOf(collection, new Map()), tokens, reach: guarded, rule: null };
  return known;
}

/**
 * Finds the longest prefix of the path that is a collection; the rest is the request's name, which may contain slashes.
 */
async function collectionOf(folder: string, wanted: string): Promise<{ file: string; name: string }> {
  const parts = wanted.split('/');
  if (parts.some((part) => part === '..' || part === '' || part.includes('\0') || part.includes('\\'))) {
    throw new TroupeError('SCRIPT_ERROR', `'${wanted}' does not name a request below requests/`);
  }
  const root = await realpath(folder).catch(() => folder);
  for (let length = parts.length - 1; length > 0; length -= 1) {
    const path = `${join(root, ...parts.slice(0, length))}.json`;
    const file = await realpath(path).catch(() => null);
    if (file === null) continue;
    if (!file.startsWith(root + sep)) throw new TroupeError('SCRIPT_ERROR', `'${wanted}' leads out of requests/`);
    return { file, name: parts.slice(length).join('/') };
  }
  throw new TroupeError('NOT_FOUND', `There is no collection for '${wanted}' (requests/${parts[0]}.json)`);
}

function variablesIn(vars: unknown): Map<string, string> {
  return new Map(
    Object.entries(asObject(vars) ?? {}).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
    ]),
  );
}

async function answerOf(
  { request, response, error, tests, unresolved, console }: RequestResult,
  mask: (text: string) => string,
): Promise<unknown> {
  if (error !== null)
    throw new TroupeError(error.code, mask(`${request.name}: ${error.error}`), maskDetails(error, mask));
  if (response === null) throw new TroupeError('REQUEST_FAILED', `${request.name}: no answer`);
  const failed = tests.filter(({ status }) => status === 'failed');
  if (failed.length > 0) {
    const messages = failed.map(({ name, message }) => mask(`${name}: ${message}`));
    throw new TroupeError('MATCH_FAILED', `${request.name}: ${messages.join('; ')}`, { tests: messages, unresolved });
  }
  const { status, statusText, headers, body, durationMs } = response;
  const bytes = body.kind === 'memory' ? body.bytes : await readFile(body.path);
  const text = bytes.toString('utf8');
  return {
    status,
    statusText,
    headers: Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value])),
    body: parsed(text),
    text,
    durationMs: Math.round(durationMs),
    tests: tests.map(({ name, status: outcome }) => ({ name, status: outcome })),
    console,
    unresolved,
  };
}

function maskDetails({ details }: ErrorBody, mask: (text: string) => string): ErrorBody['details'] {
  if (details === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [name, typeof value === 'string' ? mask(value) : value]),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
