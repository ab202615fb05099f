import type { Agent } from '../../agent-js/agent.js';
import { TroupeError } from '../../protocol/errors.js';
import type { SessionEvent } from '../../protocol/events.js';
import type { HostModule } from '../../script/host-module.js';
import { Sandbox } from '../../script/sandbox.js';
import { runScript, type ScriptRequest } from '../run-script.js';
import { type Asker, ScriptQueue } from './script-queue.js';

/** A person's scripts that may wait behind the running one. */
const WAITING_SCRIPTS = 16;

/** What a person's scripts need. */
export interface PersonParts {
  readonly agent: Agent;
  readonly modules: readonly HostModule[];
  readonly args: unknown;
  emit(event: SessionEvent): void;
  /** Returns the number of the session's next script. */
  nextScript(): number;
}

/**
 * Runs the scripts of a person who has control. They have their own scope and thread, started with the first script,
 * because the agent may be in the middle of one. Closed when control is given back.
 */
export class Person {
  readonly #parts: PersonParts;
  readonly #queue = new ScriptQueue(WAITING_SCRIPTS);
  #sandbox: Promise<Sandbox> | null = null;

  constructor(parts: PersonParts) {
    this.#parts = parts;
  }

  /** @throws the script's error; SESSION_BUSY if control is given back meanwhile */
  run(order: ScriptRequest, asker: Asker): Promise<string> {
    return this.#queue.run(async (closed) => {
      const { agent, modules, args, emit, nextScript } = this.#parts;
      this.#sandbox ??= Sandbox.start({ modules, emit: (event) => emit(event), args });
      return runScript({ sandbox: await this.#sandbox, agent, emit }, nextScript(), order, closed);
    }, asker);
  }

  /** Aborts the running script. Idempotent. */
  async close(): Promise<void> {
    this.#queue.close(new TroupeError('SESSION_BUSY', 'Control was released while the script ran, so it was stopped'));
    const sandbox = await this.#sandbox?.catch(() => null);
    await sandbox?.close();
  }
}
