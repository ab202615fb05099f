import type { ActorRef } from '../../actors/actor.js';
import { pause } from '../../base/deadline.js';
import type { BrowserEndpoint } from '../../containers/driver.js';
import type { ControlKey, PageInput } from '../../protocol/control.js';
import { type ErrorBody, TroupeError } from '../../protocol/errors.js';
import type { Handoff, HandoffRequest } from '../../protocol/person/handoff.js';
import { isEnded } from '../../protocol/session.js';
import type { SessionMessages } from '../../session/messages.js';
import type { Connections, DevTools, DevToolsClient } from '../ports/connections.js';
import type { LivingSession } from './living-session.js';
import type { SessionControl } from './session-control.js';
import { parseId, type SessionTable } from './session-table.js';

const ATTACH_MS = 6_000;
/** How long a step waits for a person to give back control. */
const STEP_MS = 3_600_000;
/** How long one request waits for the first DevTools message. */
const NEXT_MESSAGE_MS = 20_000;
const GRACE_MS = 5_000;
/** How often it is checked whether a handoff of another node has ended, in milliseconds. */
const ELSEWHERE_EVERY_MS = 200;

/** The connections to the sessions of a table. */
export class SessionConnections implements Connections {
  readonly #table: SessionTable;
  readonly #handoffElsewhere: (id: string) => string | null;

  /** @param handoffElsewhere the open handoff of a session of another node, as of a moment ago */
  constructor(table: SessionTable, handoffElsewhere: (id: string) => string | null = () => null) {
    this.#table = table;
    this.#handoffElsewhere = handoffElsewhere;
  }

  /** The session while it starts, runs, or ends. @throws NOT_FOUND, SESSION_BUSY if it is queued, SESSION_ENDED */
  async session(id: string): Promise<LivingSession> {
    const living = this.#table.living(parseId(id));
    if (living !== undefined) return living;
    if (this.#table.queued(parseId(id)) !== undefined) throw queuedError();
    const { endedAt, status, endReason } = await this.#table.get(id);
    throw new TroupeError('SESSION_ENDED', `The session ended ${endedAt ?? ''} (${status})`, { status, endReason });
  }

  async takeControl(id: string, by: string, takeOver: boolean, handoff: string | null = null): Promise<ControlKey> {
    endpointOf(await this.session(id));
    if (handoff !== null && this.openHandoff(id) !== handoff) throw handoffOverError();
    return this.#controlOf(id).take(by, takeOver, handoff);
  }

  async returnControl(id: string, key?: string): Promise<void> {
    if (key !== undefined && !this.holdsControl(id, key)) {
      throw new TroupeError('SESSION_BUSY', 'You do not have control of the session, so you cannot release it');
    }
    if (this.#table.queued(parseId(id)) === undefined) await (await this.session(id)).control.giveBack();
  }

  holdsControl(id: string, key: string): boolean {
    return this.#table.living(parseId(id))?.control.holds(key) ?? false;
  }

  attachControl(id: string, key: string): () => void {
    return this.#controlOf(id).attach(key);
  }

  async sendInput(id: string, key: string, inputs: readonly PageInput[]): Promise<void> {
    await this.#controlOf(id).input(key, inputs);
  }

  async copySelection(id: string, key: string): Promise<string> {
    return this.#controlOf(id).copy(key);
  }

  openHandoff(id: string): string | null {
    const living = this.#table.living(parseId(id));
    return living === undefined ? this.#handoffElsewhere(id) : living.handoff.open;
  }

  async nextHandoff(id: string, signal: AbortSignal): Promise<Handoff> {
    return this.#living(id).handoff.next(signal);
  }

  async handoffEnded(id: string, handoff: string, signal: AbortSignal): Promise<void> {
    await this.#table.living(parseId(id))?.handoff.ended(handoff, signal);
    while (this.openHandoff(id) === handoff) await pause(ELSEWHERE_EVERY_MS, { signal });
  }

  async answerHandoff(id: string, given: HandoffRequest, by: string): Promise<Handoff> {
    return (await this.session(id)).handoff.answer(given, by);
  }

  async beginStep(
    id: string,
    step: { readonly method: string; readonly js: string },
    signal: AbortSignal,
  ): Promise<(error: ErrorBody | null) => void> {
    const actor = (await this.session(id)).actor();
    const number = await actor.ask('BeginStep', step, { deadlineMs: STEP_MS, signal });
    return (error) => actor.tell('EndStep', { step: number, error });
  }

  touch(id: string): void {
    this.#table.living(parseId(id))?.control.touch();
  }

  desktop(id: string): string {
    const { desktopSocket } = endpointOf(this.#living(id));
    if (desktopSocket !== undefined) return desktopSocket;
    const where = 'watch its page on the stream instead (watchScreen)';
    throw new TroupeError(
      'NOT_FOUND',
      `The session has no desktop, since its browser runs without a display; ${where}`,
    );
  }

  devTools(id: string, control: string | undefined): DevTools {
    const living = this.#living(id);
    const { downloadsDir, uploadsDir, product } = endpointOf(living);
    const { mode } = living.record;
    if ((mode === 'auto' || control !== undefined) && !this.holdsControl(id, control ?? '')) {
      throw new TroupeError('SESSION_BUSY', 'The session is running a job; take control of it first');
    }
    return { product, downloadsDir, uploadsDir, connect: () => connectDevTools(living.actor()) };
  }

  /** @throws SESSION_BUSY if it is queued; SESSION_ENDED, also if it never existed */
  #living(id: string): LivingSession {
    const living = this.#table.living(parseId(id));
    if (this.#table.queued(parseId(id)) !== undefined) throw queuedError();
    if (living === undefined) throw new TroupeError('SESSION_ENDED', 'The session is not running');
    return living;
  }

  #controlOf(id: string): SessionControl {
    return this.#living(id).control;
  }
}

/** @throws SESSION_BUSY, SESSION_ENDED */
function endpointOf({ endpoint, record }: LivingSession): BrowserEndpoint {
  if (record.status === 'queued') throw queuedError();
  if (isEnded(record.status) || endpoint === null) throw new TroupeError('SESSION_ENDED', 'The session has ended');
  return endpoint;
}

function handoffOverError(): TroupeError {
  return new TroupeError('FORBIDDEN', 'The script no longer waits for a person, so its link no longer works');
}

function queuedError(): TroupeError {
  return new TroupeError('SESSION_BUSY', 'The session has no browser yet; wait until it runs');
}

/** @throws CAPACITY, WORKER_LOST */
async function connectDevTools(actor: ActorRef<SessionMessages>): Promise<DevToolsClient> {
  const client = await actor.ask('AttachDevTools', null, { deadlineMs: ATTACH_MS });
  return {
    send: (text, sessionId) => actor.tell('SendDevTools', { client, text, sessionId }),
    next: (signal) =>
      actor.ask(
        'NextDevTools',
        { client, timeoutMs: NEXT_MESSAGE_MS },
        { deadlineMs: NEXT_MESSAGE_MS + GRACE_MS, signal },
      ),
    close: () => actor.tell('DetachDevTools', { client }),
  };
}
