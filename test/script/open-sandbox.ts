import type { TroupeError } from '#troupe/protocol/errors.js';
import type { EventData, EventType, SessionEvent } from '#troupe/protocol/events.js';
import type { HostModule } from '#troupe/script/host-module.js';
import { Sandbox, type SandboxOptions, type ScriptRequest } from '#troupe/script/sandbox.js';

/** A sandbox for a test, closed with it, with short ways to run scripts and to read their events. */
export interface OpenSandbox {
  readonly sandbox: Sandbox;
  readonly events: SessionEvent[];
  /** The value, parsed. */
  run(source: string, request?: Partial<ScriptRequest>): Promise<unknown>;
  /** The error of a script that is expected to fail. */
  fails(source: string, request?: Partial<ScriptRequest>): Promise<TroupeError>;
  /** The data of all events of a type. */
  of<T extends EventType>(type: T): EventData<T>[];
}

export interface Testing {
  teardown(end: () => Promise<void>): unknown;
}

export async function openSandbox(t: Testing, options: Partial<SandboxOptions> = {}): Promise<OpenSandbox> {
  const events: SessionEvent[] = [];
  const sandbox = await Sandbox.start({ modules: [], emit: (event) => events.push(event), ...options });
  t.teardown(() => sandbox.close());
  const text = (source: string, request: Partial<ScriptRequest> = {}): Promise<string> =>
    sandbox.run({ source, name: 'script 1', kind: 'script', timeoutMs: 20_000, ...request });
  return {
    sandbox,
    events,
    run: async (source, request) => JSON.parse(await text(source, request)),
    fails: async (source, request) => {
      const failure: unknown = await text(source, request).then(
        (json) => new Error(`expected to fail, but its value is ${json}`),
        (error: unknown) => error,
      );
      if (isTroupeError(failure)) return failure;
      throw failure;
    },
    of: (type) => events.flatMap((event) => (isOf(event, type) ? [event.data] : [])),
  };
}

function isTroupeError(value: unknown): value is TroupeError {
  return value instanceof Error && value.name === 'TroupeError';
}

function isOf<T extends EventType>(
  event: SessionEvent,
  type: T,
): event is SessionEvent & { data: EventData<T>; type: T } {
  return event.type === type;
}

/** A module with one method, `host.call(...)`. */
export function hostModule(call: HostModule['calls'][string]): HostModule {
  return {
    name: 'host',
    prelude: `(function (host) {
      globalThis.host = { call(a, b, c) { return host('call', a, b, c); } };
    })`,
    calls: { call },
  };
}

/** A promise and its resolve function. */
export function deferred(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
