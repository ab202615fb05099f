import type { Agent } from '../../../agent-js/agent.js';
import { TroupeError } from '../../../protocol/errors.js';
import type { SessionEvent } from '../../../protocol/events.js';
import type { HostModule } from '../../../script/host-module.js';
import { Sandbox } from '../../../script/sandbox.js';
import { runScript, type ScriptRequest } from '../run-script.js';
import { type Asker, ScriptQueue } from './script-queue.js';

/** Scripts of a person that may wait behind the one that runs. */
const WAITING_SCRIPTS = 16;

/** What a person's scripts are run with. */
export interface PersonParts {
  readonly agent: Agent;
  readonly modules: readonly HostModule[];
  readonly args: unknown;
  emit(event: SessionEvent): void;
  /** The number of the session's next script. */
  nextScript(): number;
}

/**
 * The scripts of a person who has control. They have a scope and a thread of their own, started with the first of them,
 * since the agent's may be in the middle of a script. Closed when control is given back.
 */
export class Person {
  readonly #parts: PersonParts;
  readonly #queue = new ScriptQueue(WAITING_SCRIPTS);
  #sandbox: Promise<Sandbox> | null = null;

  constructor(parts: PersonParts) {
    this.#parts = parts;
  }

  /** @throws what the script failed with; SESSION_BUSY when control is given back meanwhile */
  run(order: ScriptRequest, asker: Asker): Promise<string> {
    return this.#queue.run(async (closed) => {
      const { agent, modules, args, emit, nextScript } = this.#parts;
      this.#sandbox ??= Sandbox.start({ modules, emit: (event) => emit(event), args });
      return runScript({ sandbox: await this.#sandbox, agent, emit }, nextScript(), order, closed);
    }, asker);
  }

  /** Ends what runs. Idempotent. */
  async close(): Promise<void> {
    this.#queue.close(new TroupeError('SESSION_BUSY', 'Control was given back while the script ran'));
    const sandbox = await this.#sandbox?.catch(() => null);
    await sandbox?.close();
  }
}
