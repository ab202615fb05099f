import { access } from 'node:fs/promises';
import type Dockerode from 'dockerode';
import { withDeadline } from '../../base/deadline.js';
import { sentenceOf } from '../../base/system-fault.js';
import { apiVersion, EngineRelease } from './api-version.js';
import { engineFault, whyNoAnswer } from './engine-fault.js';

const DEADLINE_MS = 30_000;
/** Of the call for the version: an engine that is there answers it at once. */
const VERSION_MS = 3_000;

/** What bounds the calls of one {@link DockerEngine.docker}. */
export interface CallBounds {
  /** A whole call; of a stream, the time until its answer begins. Milliseconds, 30 s by default. */
  readonly deadlineMs?: number | undefined;
  /** Ends calls and streams, which fail with its reason then. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The Docker engine of this machine, over its unix socket, through dockerode, which is loaded by the first call. Calls are
 * made in an API version that the engine takes; it is asked for that once, and again after a failure.
 */
export class DockerEngine {
  readonly socketPath: string;
  /** Of calls that are given none, in milliseconds. */
  readonly deadlineMs: number;
  #version: Promise<string> | null = null;

  constructor(socketPath: string, deadlineMs = DEADLINE_MS) {
    this.socketPath = socketPath;
    this.deadlineMs = deadlineMs;
  }

  /**
   * dockerode, with calls that fail with UNAVAILABLE when the engine does not answer in time or refuses.
   * @throws UNAVAILABLE when the engine does not answer, or is older than 20.10
   */
  async docker({ deadlineMs = this.deadlineMs, signal }: CallBounds = {}): Promise<Dockerode> {
    this.#version ??= this.#negotiated();
    const late = () => engineFault(this.socketPath, `no answer within ${Math.round(deadlineMs)} ms (GET /version)`);
    const version = await withDeadline(this.#version, { signal, ms: deadlineMs, late });
    return this.#open({ deadlineMs, signal }, version);
  }

  /** @throws UNAVAILABLE when no engine answers */
  async release(): Promise<EngineRelease> {
    const docker = await this.#open({ deadlineMs: Math.min(VERSION_MS, this.deadlineMs) });
    const release = EngineRelease.safeParse(await docker.version());
    if (release.success) return release.data;
    throw engineFault(this.socketPath, 'it does not answer as an engine does; check DOCKER_HOST');
  }

  /** Whether an engine answers that can be used: its version, or why not. */
  async version(): Promise<{ readonly version: string } | { readonly why: string }> {
    try {
      const release = await this.release();
      this.#version = Promise.resolve(this.#accepted(release));
      return { version: release.Version };
    } catch (error) {
      return { why: sentenceOf(error) };
    }
  }

  async #negotiated(): Promise<string> {
    try {
      return this.#accepted(await this.release());
    } catch (cause) {
      this.#version = null;
      throw cause;
    }
  }

  #accepted(release: EngineRelease): string {
    const version = apiVersion(release);
    if (version !== null) return version;
    const what = `it is version ${release.Version}, and 20.10 or later is needed; upgrade Docker`;
    throw engineFault(this.socketPath, what);
  }

  async #open({ deadlineMs = this.deadlineMs, signal }: CallBounds, version?: string): Promise<Dockerode> {
    // Most machines without Docker have no such file, and load nothing.
    await access(this.socketPath).catch((cause) => {
      throw engineFault(this.socketPath, whyNoAnswer(cause), cause);
    });
    const { openDocker } = await import('./engine-modem.js');
    const onStrange = (): void => {
      this.#version = null;
    };
    return openDocker({ socketPath: this.socketPath, version, deadlineMs, signal, onStrange });
  }
}
