import { randomInt } from 'node:crypto';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { boundedWait } from '../../base/deadline.js';
import { deferred } from '../../base/deferred.js';
import { SharedDeadline } from '../../base/shared-deadline.js';
import type { DevToolsAddress } from '../../containers/driver.js';
import { TroupeError } from '../../protocol/errors.js';
import { type DevToolsTransport, openTransport } from './devtools-transport.js';
import { HeldPages } from './held-pages.js';

/** A user of a browser's DevTools: the session itself, or another client. */
export interface DevToolsUser {
  /**
   * A message of one of this user's sessions, as the browser wrote it; without `sessionId` if it is of the root
   * session.
   */
  message(text: string): void;
  /** Called once when there will be no more messages. */
  closed(reason: string, tooLong: boolean): void;
}

/** A user's handle. */
export interface DevToolsLink {
  /**
   * Sends a command, a JSON object as text. `sessionId` must equal the command's member of that name; undefined (and no
   * such member) means the root session. Returns false, and sends nothing, if the session belongs to another user.
   */
  send(text: string, sessionId: string | undefined): boolean;
  /** Ends the user's sessions, which undoes their settings in the browser. Idempotent. */
  close(): void;
}

/** A user that has left. */
export interface LeftUser {
  /** It had granted or taken back permissions: the browser has taken back all that were granted. */
  readonly setPermissions: boolean;
}

/** Chromium writes the session id as the last member. */
const SESSION_AT_END = /,"sessionId":"([^"\\]+)"\}$/;
const TAIL = 80;
const ABOUT_TARGETS = '{"method":"Target.';

const Routed = z.object({ id: z.number().optional(), sessionId: z.string().optional() });
const RootAnswer = z.object({
  id: z.number(),
  result: z.object({ sessionId: z.string() }).optional(),
  error: z.object({ message: z.string() }).optional(),
});
const TargetEvent = z.object({
  method: z.enum(['Target.attachedToTarget', 'Target.detachedFromTarget']),
  params: z.object({
    sessionId: z.string(),
    targetInfo: z.object({ targetId: z.string(), type: z.string() }).optional(),
    waitingForDebugger: z.boolean().optional(),
  }),
});
/** The browser takes the first entry that fits; without a filter, pages are attached to. */
const AutoAttach = z.object({
  autoAttach: z.boolean(),
  waitForDebuggerOnStart: z.boolean(),
  filter: z.array(z.object({ type: z.string().optional(), exclude: z.boolean().optional() })).default([{}]),
});
const AUTO_ATTACH = 'Target.setAutoAttach';
const RESUME = 'Runtime.runIfWaitingForDebugger';
/** No resuming command is longer. */
const MAX_RESUME = 500;

const SETS_PERMISSIONS = /"Browser\.(?:grantPermissions|setPermission|resetPermissions)"/;

interface ConnectedUser extends DevToolsUser, LeftUser {
  readonly root: string;
  setPermissions: boolean;
  readonly sessions: Set<string>;
}

/**
 * One connection to a browser's DevTools, shared by independent users. Each has its own session with the browser
 * (`Target.attachToBrowserTarget`), and all sessions that it attaches are children of that one. When a user leaves, its
 * settings end with it, and no user can send to another's session.
 *
 * Sessions on a pipe outlive their client, so they are recorded in a file, and the next client of the pipe ends them.
 */
export class DevToolsChannel {
  readonly #sessionsFile: string | null;
  readonly #actsUntil: SharedDeadline | null;
  readonly #owners = new Map<string, ConnectedUser>();
  readonly #users = new Set<ConnectedUser>();
  readonly #held = new HeldPages<ConnectedUser>();
  readonly #leaveListeners = new Set<(left: LeftUser) => void>();
  readonly #answers = new Map<number, (text: string) => void>();
  #transport: DevToolsTransport | undefined;
  #end: string | undefined;
  /** Of an earlier client, which are to be ended. */
  #earlier: readonly string[];
  readonly #disconnected = deferred<void>();

  private constructor(sessionsFile: string | null, actsUntil: SharedArrayBuffer | undefined) {
    this.#sessionsFile = sessionsFile;
    this.#earlier = sessionsFile === null ? [] : readLines(sessionsFile);
    this.#actsUntil = actsUntil === undefined ? null : new SharedDeadline(actsUntil);
  }

  /**
   * @param bounds.keepsEarlier the caller ends the sessions of an earlier client itself, see {@link endEarlierSessions}
   * @param bounds.actsUntil of a {@link SharedDeadline}: once it has passed, nothing that users send reaches the browser
   * @throws WORKER_LOST if the browser does not answer within the bounds
   */
  static async open(
    address: DevToolsAddress,
    bounds: {
      readonly signal: AbortSignal;
      readonly deadlineMs: number;
      readonly actsUntil?: SharedArrayBuffer | undefined;
      readonly keepsEarlier?: boolean;
    },
  ): Promise<DevToolsChannel> {
    const channel = new DevToolsChannel(address.kind === 'pipe' ? address.sessionsFile : null, bounds.actsUntil);
    channel.#transport = await openTransport(
      address,
      {
        message: (text) => channel.#receive(text),
        closed: (reason, tooLong) => channel.#transportClosed(reason, tooLong),
      },
      bounds,
    );
    if (bounds.keepsEarlier !== true) channel.endEarlierSessions();
    return channel;
  }

  /** False once the connection has ended. */
  get isOpen(): boolean {
    return this.#end === undefined;
  }

  /** Bytes that the browser has not read yet. */
  get unsentBytes(): number {
    return this.#transport?.unsentBytes ?? 0;
  }

  /**
   * Ends sessions that an earlier client left attached: they would keep sending, and keep their settings. Requests that
   * their rules hold go on to the server then. Idempotent.
   */
  endEarlierSessions(): void {
    const earlier = this.#earlier;
    this.#earlier = [];
    for (const sessionId of earlier) this.#rootCommand('Target.detachFromTarget', { sessionId });
    if (this.#sessionsFile === null) return;
    writeFileSync(this.#sessionsFile, [...this.#users].map(({ root }) => `${root}\n`).join(''), { mode: 0o600 });
  }

  /** @throws WORKER_LOST if the browser does not answer within the bounds */
  async join(
    user: DevToolsUser,
    bounds: { readonly signal: AbortSignal; readonly deadlineMs: number },
  ): Promise<DevToolsLink> {
    const root = await this.#attach(bounds);
    const connected: ConnectedUser = { ...boundUser(user), root, sessions: new Set([root]), setPermissions: false };
    this.#owners.set(root, connected);
    this.#users.add(connected);
    return {
      send: (text, sessionId) => this.#send(connected, text, sessionId),
      close: () => this.#leave(connected),
    };
  }

  /** Calls `listener` after each user that leaves. Returns a function that removes the listener. */
  onLeave(listener: (left: LeftUser) => void): () => void {
    this.#leaveListeners.add(listener);
    return () => this.#leaveListeners.delete(listener);
  }

  /**
   * Ends all users' sessions and disconnects from the browser, which keeps running. Resolves when it is closed.
   * Idempotent.
   */
  async close(): Promise<void> {
    for (const user of [...this.#users]) {
      this.#leave(user);
      user.closed('the session disconnected from its browser', false);
    }
    this.#transport?.close();
    await this.#disconnected.promise;
  }

  #attach({ signal, deadlineMs }: { readonly signal: AbortSignal; readonly deadlineMs: number }): Promise<string> {
    const lost = (why: string) => new TroupeError('WORKER_LOST', why);
    const late = () => lost(`The browser does not answer within ${deadlineMs} ms`);
    return boundedWait<string>({ signal, ms: deadlineMs, late }, (resolve, reject) => {
      const id = this.#rootCommand('Target.attachToBrowserTarget', {});
      this.#answers.set(id, (text) => {
        const { result, error } = RootAnswer.parse(JSON.parse(text));
        if (result === undefined) return reject(lost(`The browser rejects a connection: ${error?.message ?? ''}`));
        if (this.#sessionsFile !== null) appendFileSync(this.#sessionsFile, `${result.sessionId}\n`);
        resolve(result.sessionId);
      });
      if (this.#end !== undefined) reject(lost(`The browser does not answer: ${this.#end}`));
      return () => this.#answers.delete(id);
    });
  }

  /** Ids are random, so that a late answer to an earlier client is not mistaken for one of ours. */
  #rootCommand(method: string, params: object): number {
    const id = randomInt(1, 2 ** 31);
    this.#transport?.send(JSON.stringify({ id, method, params }));
    return id;
  }

  #send(user: ConnectedUser, text: string, sessionId: string | undefined): boolean {
    if (!this.#users.has(user)) return true;
    // Another node may already act in its place; this session is about to be ended.
    if (this.#actsUntil?.hasPassed === true) return true;
    if (text.includes('Permission') && SETS_PERMISSIONS.test(text)) user.setPermissions = true;
    if (sessionId === undefined) {
      this.#setHolds(user, text);
      this.#transport?.send(`{"sessionId":"${user.root}",${text.slice(1)}`);
      return true;
    }
    if (this.#owners.get(sessionId) !== user) return false;
    const resumes = text.length < MAX_RESUME && text.includes(RESUME);
    if (resumes) this.#held.resume(user, sessionId, () => this.#transport?.send(text));
    else this.#transport?.send(text);
    return true;
  }

  /** Follows which users want to prepare new pages before they start. */
  #setHolds(user: ConnectedUser, text: string): void {
    if (!text.includes(AUTO_ATTACH)) return;
    const command: { readonly method: string; readonly params?: unknown } = JSON.parse(text);
    const params = AutoAttach.safeParse(command.params);
    if (command.method !== AUTO_ATTACH || !params.success) return;
    const { autoAttach, waitForDebuggerOnStart, filter } = params.data;
    const entry = filter.find(({ type }) => type === undefined || type === 'page');
    this.#held.setHolds(user, autoAttach && waitForDebuggerOnStart && entry !== undefined && entry.exclude !== true);
  }

  #leave(user: ConnectedUser): void {
    if (!this.#users.delete(user)) return;
    for (const session of user.sessions) this.#owners.delete(session);
    this.#held.leave(user);
    this.#rootCommand('Target.detachFromTarget', { sessionId: user.root });
    for (const listener of [...this.#leaveListeners]) listener(user);
  }

  #receive(text: string): void {
    const [member = '', session = sessionOf(text)] = SESSION_AT_END.exec(text.slice(-TAIL)) ?? [];
    if (session === undefined) {
      this.#rootMessage(text);
      return;
    }
    const owner = this.#owners.get(session);
    // A session of a user that has left.
    if (owner === undefined) return;
    if (text.startsWith(ABOUT_TARGETS)) this.#follow(owner, text);
    owner.message(session === owner.root && member !== '' ? `${text.slice(0, -member.length)}}` : text);
  }

  /** Tracks which sessions belong to which user. */
  #follow(owner: ConnectedUser, text: string): void {
    const event = TargetEvent.safeParse(JSON.parse(text));
    if (!event.success) return;
    const { sessionId, targetInfo, waitingForDebugger } = event.data.params;
    if (event.data.method === 'Target.attachedToTarget') {
      owner.sessions.add(sessionId);
      this.#owners.set(sessionId, owner);
      if (targetInfo?.type !== 'page') return;
      this.#held.attached(owner, sessionId, { targetId: targetInfo.targetId, waiting: waitingForDebugger === true });
    } else if (this.#owners.get(sessionId) === owner) {
      owner.sessions.delete(sessionId);
      this.#owners.delete(sessionId);
      this.#held.detached(owner, sessionId);
    }
    // The browser itself ends a user's root session when it shuts down.
    if (sessionId === owner.root) this.#users.delete(owner);
  }

  #rootMessage(text: string): void {
    const { id } = parsed(text) ?? {};
    if (id === undefined) return;
    this.#answers.get(id)?.(text);
  }

  #transportClosed(reason: string, tooLong: boolean): void {
    this.#end = reason;
    this.#held.close();
    this.#disconnected.resolve();
    const users = [...this.#users];
    this.#users.clear();
    this.#owners.clear();
    for (const user of users) user.closed(reason, tooLong);
    const error = JSON.stringify({ message: reason });
    for (const [id, answer] of [...this.#answers]) answer(`{"id":${id},"error":${error}}`);
  }
}

function boundUser(user: DevToolsUser): DevToolsUser {
  return { message: (text) => user.message(text), closed: (reason, tooLong) => user.closed(reason, tooLong) };
}

/** The session id of a message that does not end with it. */
function sessionOf(text: string): string | undefined {
  return text.includes('"sessionId"') ? parsed(text)?.sessionId : undefined;
}

function parsed(text: string): z.infer<typeof Routed> | undefined {
  try {
    return Routed.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
