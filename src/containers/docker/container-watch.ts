import { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { DockerEngine } from './docker-engine.js';
import { INSTANCE_LABEL } from './docker-identity.js';
import { valuesOf } from './engine-streams.js';

/** What can happen to a container that is of interest here. */
export type ContainerEvent =
  | { readonly type: 'die'; readonly exitCode: number }
  | { readonly type: 'oom' }
  | { readonly type: 'pause' }
  | { readonly type: 'unpause' }
  /** The engine that ran it answers no more, or has forgotten it. */
  | { readonly type: 'lost'; readonly why: string };

const Line = z.object({
  Action: z.string(),
  Actor: z.object({ ID: z.string(), Attributes: z.record(z.string(), z.string()).optional() }),
});
const Listed = z.array(z.object({ Id: z.string() }));

/** After the stream broke it is tried again this often, and so many times in a row until the engine counts as gone. */
const RETRY_MS = 150;
const RETRIES = 4;
/** Until the engine has taken the call for its events. */
const OPEN_MS = 3_000;
/** Then it is looked for this often: it may be started again. */
const LOOK_FOR_ENGINE_MS = 1_000;

/**
 * Tells what happens to containers of one instance, from the engine's stream of events. Runs while something is watched.
 * When the stream breaks, whatever the engine does not list as running any more is lost.
 */
export class ContainerWatch {
  readonly #engine: DockerEngine;
  readonly #filter: string;
  readonly #watched = new Map<string, (event: ContainerEvent) => void>();
  #stream: AbortController | null = null;

  constructor(engine: DockerEngine, instance: string) {
    this.#engine = engine;
    this.#filter = `${INSTANCE_LABEL}=${instance}`;
  }

  /** Calls back from the next turn on, until what it answers is called. */
  watch(containerId: string, onEvent: (event: ContainerEvent) => void): () => void {
    this.#watched.set(containerId, onEvent);
    if (this.#stream === null) {
      this.#stream = new AbortController();
      void this.#follow(this.#stream.signal);
    }
    return () => {
      this.#watched.delete(containerId);
      if (this.#watched.size > 0) return;
      this.#stream?.abort();
      this.#stream = null;
    };
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        const events = await this.#open(signal);
        failures = 0;
        this.#look().catch(() => undefined);
        for await (const line of valuesOf(events)) this.#read(line);
      } catch {
        // Whatever broke it, it is opened again.
      }
      if (failures === RETRIES) this.#all({ type: 'lost', why: 'the Docker engine does not answer' });
      await pause(failures < RETRIES ? RETRY_MS : LOOK_FOR_ENGINE_MS, undefined, { signal, ref: false }).catch(
        () => undefined,
      );
    }
  }

  /** Keeps no process alive that waits for nothing else. */
  async #open(signal: AbortSignal): Promise<NodeJS.ReadableStream> {
    const docker = await this.#engine.docker({ signal, deadlineMs: OPEN_MS });
    const label = [this.#filter];
    const filters = { type: ['container' as const], label, event: ['die', 'oom', 'pause', 'unpause'] };
    const events = await docker.getEvents({ filters });
    if (events instanceof IncomingMessage) events.socket.unref();
    return events;
  }

  /** What ended before the stream was open, or while it was broken, sent no event. */
  async #look(): Promise<void> {
    const watched = [...this.#watched.keys()];
    const status = ['created', 'restarting', 'running', 'paused'];
    const docker = await this.#engine.docker();
    const listed = Listed.parse(await docker.listContainers({ filters: { label: [this.#filter], status } }));
    const running = new Set(listed.map(({ Id }) => Id));
    for (const id of watched) {
      if (!running.has(id)) this.#watched.get(id)?.({ type: 'lost', why: 'its container is gone' });
    }
  }

  #read(line: unknown): void {
    const event = Line.safeParse(line);
    if (!event.success) return;
    const { Action, Actor } = event.data;
    const notify = this.#watched.get(Actor.ID);
    if (Action === 'die') notify?.({ type: 'die', exitCode: Number(Actor.Attributes?.exitCode ?? -1) });
    else if (Action === 'oom' || Action === 'pause' || Action === 'unpause') notify?.({ type: Action });
  }

  #all(event: ContainerEvent): void {
    for (const notify of [...this.#watched.values()]) notify(event);
  }
}
