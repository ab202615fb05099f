import { createHmac, randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { Readable } from 'node:stream';
import vm from 'node:vm';
import type { FrameOrder, ScreenFrame } from '#troupe/actors/session/screen.js';
import type { FlowEntry } from '#troupe/agent-js/flows/flow-catalog.js';
import { AccessTokens } from '#troupe/auth/access-tokens.js';
import { ShareLinks } from '#troupe/auth/share-links.js';
import { systemClock } from '#troupe/base/clock.js';
import { ControlKey } from '#troupe/protocol/control.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import type { EventPage } from '#troupe/protocol/event-row.js';
import type { JournalEvent, SessionEvent } from '#troupe/protocol/events.js';
import type { FlowNode } from '#troupe/protocol/flow-tree.js';
import {
  type AutoRequest,
  isEnded,
  type ListQuery,
  type LiveRequest,
  SessionId,
  type SessionRecord,
} from '#troupe/protocol/session.js';
import type { Stats } from '#troupe/protocol/stats.js';
import { isRepeatedStop } from '#troupe/supervisor/batches/repeated-stop.js';
import type { DevTools, Connections } from '#troupe/supervisor/ports/connections.js';
import type {
  Health,
  ModelInfo,
  OpenFile,
  RunOptions,
  SessionCounts,
  SessionFile,
  Sessions,
  Submitter,
} from '#troupe/supervisor/ports/sessions.js';
import { activityOf } from '#troupe/supervisor/sessions/task/activity.js';
import { Outbox } from '#troupe/webhooks/outbox.js';
import { InMemoryBatches, pageOf } from './in-memory-batches.js';

const MAX_LIVE = 3;

const VAULT = {
  fingerprint: (request: unknown) => createHmac('sha256', 'a key').update(JSON.stringify(request)).digest('base64url'),
};

/** Browsers aside, a whole supervisor: records, events, files and scripts, kept in memory. */
export class InMemorySessions implements Sessions {
  readonly webhooks = new Outbox({
    journal: { write: async () => 0, kept: async () => [] },
    vault: { seal: String, unseal: () => null },
    clock: systemClock,
    log: () => undefined,
    secret: undefined,
    rule: { refusal: () => null, isOwn: () => false },
    random: Math.random,
  });
  readonly tokens = new AccessTokens({
    journal: { write: async () => 0, kept: async () => [] },
    vault: VAULT,
    clock: { now: () => new Date() },
  });
  readonly links = new ShareLinks({ vault: VAULT, clock: { now: () => new Date() } });
  readonly batches = new InMemoryBatches(this);
  /** `quick.js` ends at once, `endless.js` when it is removed. */
  readonly flows = new Set(['quick.js', 'endless.js', 'notes.md']);
  /** What `archive` answers; a test may put its own stream here. */
  makeArchive: (id: string) => Readable = (id) => Readable.from([`artifacts of ${id}`]);
  /** Live sessions whose request is labelled `slow` wait for this, or for their client to leave. */
  readonly #doors = new EventEmitter().setMaxListeners(0);
  readonly #records = new Map<string, SessionRecord>();
  readonly #files = new Map<string, Map<string, { file: SessionFile; content: Buffer }>>();
  readonly #log: JournalEvent[] = [];
  readonly #news = new EventEmitter().setMaxListeners(0);
  readonly connections = new InMemoryDoors(this);
  /** Scripts that begin with `lasting` and run. */
  lasting = 0;
  /** Creations given up because their client left. */
  abandoned = 0;
  /** The last event that each reader of this moment was handed. */
  readonly positions = new Map<symbol, number>();

  async createLive(request: LiveRequest, { signal }: Submitter): Promise<SessionRecord> {
    const live = [...this.#records.values()].filter((record) => record.status === 'running');
    if (live.length >= MAX_LIVE) throw new TroupeError('CAPACITY', 'No place is free', { retryAfterSeconds: 7 });
    if (request.labels?.slow !== undefined) {
      this.#doors.emit('waiting');
      await once(this.#doors, 'open', { signal }).catch(() => {
        this.abandoned += 1;
        this.#doors.emit('abandoned');
        throw new TroupeError('UNAVAILABLE', 'The client left');
      });
    }
    const record = this.#add('live', 'running', request.name ?? null);
    this.append(record.id, {
      type: 'SessionStarted',
      data: { driver: 'memory', browser: 'none', thread: 0 },
    });
    return record;
  }

  async submit(request: AutoRequest): Promise<SessionRecord> {
    for (const file of request.flowFiles ?? []) {
      if (!/\.(js|md)$/.test(file)) throw new TroupeError('INVALID_REQUEST', `${file} is neither .js nor .md`);
      if (!this.flows.has(file)) throw new TroupeError('FLOW_NOT_FOUND', `There is no flow ${file}`);
    }
    if (request.maxIterations !== 0) throw new TroupeError('AUTONOMY_OFF', 'No model is configured');
    const record = this.#add('auto', 'running', request.name ?? null, request.prompt, request.flowFiles);
    if (!request.flowFiles?.includes('endless.js')) setImmediate(() => this.end(record.id, 'completed'));
    return record;
  }

  async waitForEnd(id: string, bounds: { timeoutMs: number; signal: AbortSignal }): Promise<SessionRecord> {
    const patience = AbortSignal.any([bounds.signal, AbortSignal.timeout(bounds.timeoutMs)]);
    while (!isEnded((await this.get(id)).status)) {
      const news = await once(this.#news, 'event', { signal: patience }).catch(() => null);
      if (!news) break;
    }
    return await this.get(id);
  }

  async list(query: ListQuery): Promise<readonly SessionRecord[]> {
    return [...this.#records.values()]
      .reverse()
      .filter((record) => query.mode === undefined || record.mode === query.mode)
      .filter((record) => query.state === undefined || record.status === query.state)
      .slice(0, query.limit ?? 100);
  }

  known(id: string): SessionRecord | undefined {
    return this.#records.get(id);
  }

  async get(id: string): Promise<SessionRecord> {
    const record = this.#records.get(id);
    if (!record) throw new TroupeError('NOT_FOUND', `There is no session ${id}`);
    return record;
  }

  doing(id: SessionId): string | null {
    const events = this.#log.filter(({ sessionId }) => sessionId === id);
    return events.reduce<string | null>((doing, event) => activityOf(event) ?? doing, null);
  }

  async counts(): Promise<SessionCounts> {
    const of = { queued: 0, running: 0, completed: 0, failed: 0, stopped: 0 };
    for (const { status } of this.#records.values()) of[status] += 1;
    return { of, failed: of.failed };
  }

  async remove(id: string, purge: boolean): Promise<void> {
    const { status, endReason, endedAt } = await this.get(id);
    if (!isEnded(status)) this.end(id, 'stopped');
    else if (!purge && endReason === 'deleted' && isRepeatedStop(endedAt, new Date())) return;
    if (purge || isEnded(status)) this.#records.delete(id);
  }

  async runScript(id: string, js: string, signal: AbortSignal, manner?: RunOptions): Promise<string> {
    const { onDisconnect, control } = manner ?? { onDisconnect: 'continue' };
    const record = await this.get(id);
    if (isEnded(record.status)) throw new TroupeError('SESSION_ENDED', 'The session has ended');
    const isPersons = control !== undefined && this.connections.holdsControl(id, control);
    if (record.mode === 'auto' && !isPersons) throw new TroupeError('SESSION_BUSY', 'The session works for a job');
    if (js.startsWith('lasting')) return await this.#runLasting(onDisconnect === 'stop' ? signal : undefined);
    try {
      return JSON.stringify(vm.runInNewContext(js, {}, { timeout: 500 })) ?? 'null';
    } catch (error) {
      throw new TroupeError('SCRIPT_ERROR', error instanceof Error ? error.message : String(error), { line: 1 });
    }
  }

  /** Lets scripts that begin with `lasting` end, with the result 1. */
  finishLasting(): void {
    this.#doors.emit('finish');
  }

  async #runLasting(signal: AbortSignal | undefined): Promise<string> {
    this.lasting += 1;
    try {
      await once(this.#doors, 'finish', { signal });
      return '1';
    } finally {
      this.lasting -= 1;
    }
  }

  async flowCatalog(): Promise<readonly FlowEntry[]> {
    return [{ path: 'quick', about: 'Ends at once.' }];
  }

  async flowTree(): Promise<readonly FlowNode[]> {
    return [{ kind: 'flow', name: 'quick.js', path: 'quick.js', about: 'Ends at once.', args: [], fault: null }];
  }

  async stats(): Promise<Stats> {
    const now = new Date().toISOString();
    return { since: now, until: now, by: 'day', cut: false, flows: [] };
  }

  async flowSource(path: string): Promise<string> {
    if (!this.flows.has(path)) throw new TroupeError('NOT_FOUND', `There is no ${path}`);
    return '// Ends at once.';
  }

  /** Bytes of a picture. */
  frameBytes = 1;

  /** A picture that begins with its number, as soon as it is asked for. */
  async nextFrame(id: string, { after }: FrameOrder): Promise<ScreenFrame | null> {
    const { status } = await this.get(id);
    if (isEnded(status)) throw new TroupeError('SESSION_ENDED', 'The session has ended');
    return { number: after + 1, jpeg: new Uint8Array(this.frameBytes).fill(after + 1, 0, 1), width: 4, height: 3 };
  }

  async archive(id: string): Promise<Readable> {
    await this.get(id);
    return this.makeArchive(id);
  }

  async files(id: string): Promise<readonly SessionFile[]> {
    await this.get(id);
    return [...(this.#files.get(id)?.values() ?? [])].map(({ file }) => file);
  }

  async readFile(id: string, name: string): Promise<{ bytes: number; stream: Readable }> {
    await this.get(id);
    const found = this.#files.get(id)?.get(name);
    if (!found) throw new TroupeError('NOT_FOUND', `There is no file ${name}`);
    return { bytes: found.content.byteLength, stream: Readable.from([found.content], { objectMode: false }) };
  }

  async screenshot(id: string, name: string): Promise<OpenFile> {
    await this.get(id);
    if (name !== '001-step.png') throw new TroupeError('NOT_FOUND', `There is no ${name}`);
    return opened('a picture');
  }

  async report(id: string): Promise<OpenFile> {
    return opened(`<title>${(await this.get(id)).id}</title>`);
  }

  async writeFile(id: string, name: string, content: Readable): Promise<SessionFile> {
    if (isEnded((await this.get(id)).status)) throw new TroupeError('SESSION_ENDED', 'The session has ended');
    const chunks: Buffer[] = [];
    for await (const chunk of content) chunks.push(chunk);
    const whole = Buffer.concat(chunks);
    const file: SessionFile = { name, bytes: whole.byteLength, source: 'upload', modifiedAt: new Date().toISOString() };
    const files = this.#files.get(id) ?? new Map();
    this.#files.set(id, files.set(name, { file, content: whole }));
    return file;
  }

  async *events(selection: {
    id?: string;
    after: number;
    upTo?: number;
    signal: AbortSignal;
  }): AsyncGenerator<JournalEvent> {
    const reader = Symbol('reader');
    let after = selection.after;
    this.positions.set(reader, after);
    try {
      while (!selection.signal.aborted) {
        // Numbers begin at 1: the event after `after` has that index.
        const next = this.#log[after];
        if (next) {
          after = next.seq;
          if (selection.id !== undefined && next.sessionId !== selection.id) continue;
          this.positions.set(reader, after);
          yield next;
          if (selection.id !== undefined && next.type === 'SessionEnded') return;
          continue;
        }
        if (after >= (selection.upTo ?? Number.POSITIVE_INFINITY)) return;
        if (selection.id !== undefined && isEnded(this.#records.get(selection.id)?.status ?? 'stopped')) return;
        await once(this.#news, 'event', { signal: selection.signal }).catch(() => undefined);
      }
    } finally {
      this.positions.delete(reader);
      this.#doors.emit('reader-left');
    }
  }

  async *eventPages(selection: { id?: string; after: number; signal: AbortSignal }): AsyncGenerator<EventPage> {
    for await (const event of this.events(selection)) yield pageOf(event);
  }

  lastSeq(): number {
    return this.#log.length;
  }

  models(): readonly ModelInfo[] {
    return [{ id: 'memory/none', default: true, ready: true, apiKeyEnv: null }];
  }

  health(): Health {
    const running = [...this.#records.values()].filter((record) => record.status === 'running').length;
    return {
      status: 'ok',
      version: '0.0.0',
      driver: 'memory',
      uptimeSeconds: 1,
      capacity: { max: MAX_LIVE, running, queued: 0, warm: 0 },
    };
  }

  /** Journals an event of a session, and so shows it to every reader. */
  append(id: SessionId, event: SessionEvent): number {
    const seq = this.#log.length + 1;
    const at = new Date().toISOString();
    // The spread of a union of events is that union again, which the compiler cannot see.
    this.#log.push({ ...event, seq, at, sessionId: id } as JournalEvent);
    this.#news.emit('event');
    return seq;
  }

  end(id: string, status: 'completed' | 'stopped'): void {
    const record = this.#records.get(id);
    if (!record || isEnded(record.status)) return;
    const endReason = status === 'completed' ? 'finished' : 'deleted';
    this.#records.set(id, { ...record, status, state: status, endReason, endedAt: new Date().toISOString() });
    this.append(record.id, { type: 'SessionEnded', data: { status, endReason, summary: null, error: null } });
  }

  /** Settles when a slow creation waits, one was given up, or an event reader went. */
  async until(what: 'waiting' | 'abandoned' | 'reader-left', signal: AbortSignal): Promise<void> {
    await once(this.#doors, what, { signal });
  }

  openDoors(): void {
    this.#doors.emit('open');
  }

  #add(
    mode: 'live' | 'auto',
    status: 'running',
    name: string | null,
    prompt: string | null = null,
    flowFiles: readonly string[] = [],
  ): SessionRecord {
    const id = SessionId.parse(randomBytes(6).toString('hex'));
    const now = new Date().toISOString();
    const record: SessionRecord = {
      id,
      sessionId: id,
      mode,
      name,
      labels: {},
      batch: null,
      status,
      state: status,
      prompt,
      flowFiles: [...flowFiles],
      model: null,
      maxIterations: mode === 'auto' ? 0 : null,
      iterations: 0,
      attempt: 1,
      queuePosition: null,
      createdAt: now,
      startedAt: now,
      endedAt: null,
      lastActivityAt: now,
      endReason: null,
      summary: null,
      error: null,
      tokens: { input: 0, cached: 0, output: 0 },
      driver: 'memory',
      links: {
        self: `/api/sessions/${id}`,
        proxy: `/sessions/${id}/proxy`,
        prompt: `/sessions/${id}/prompt`,
        download: `/api/sessions/${id}/download`,
        events: `/api/sessions/${id}/events`,
        view: `/#/sessions/${id}`,
      },
    };
    this.#records.set(id, record);
    this.append(id, { type: 'SessionAccepted', data: { mode, prompt, flowFiles: [...flowFiles] } });
    return record;
  }
}

function opened(text: string): OpenFile {
  const content = Buffer.from(text);
  return { bytes: content.byteLength, stream: Readable.from([content], { objectMode: false }) };
}

/** Control is taken and given back, and there is nothing behind the doors. */
class InMemoryDoors implements Connections {
  /** What every session's desktop is, when a test has one. */
  desktopSocket: string | null = null;
  readonly #sessions: Pick<InMemorySessions, 'get' | 'known'>;
  readonly #control = new Map<string, ControlKey>();

  constructor(sessions: Pick<InMemorySessions, 'get' | 'known'>) {
    this.#sessions = sessions;
  }

  async takeControl(id: string, _by: string, takeOver: boolean): Promise<ControlKey> {
    await this.#running(id);
    if (this.#control.has(id) && !takeOver) throw new TroupeError('SESSION_BUSY', 'Another person has control');
    const key = ControlKey.parse(randomBytes(16).toString('base64url'));
    this.#control.set(id, key);
    return key;
  }

  async returnControl(id: string): Promise<void> {
    await this.#running(id);
    this.#control.delete(id);
  }

  holdsControl(id: string, key: string): boolean {
    return this.#control.get(id) === key;
  }

  attachControl(id: string, key: string): () => void {
    if (!this.holdsControl(id, key)) throw new TroupeError('SESSION_BUSY', 'The control is not yours');
    return () => undefined;
  }

  async sendInput(id: string, key: string): Promise<void> {
    this.attachControl(id, key);
  }

  async copySelection(id: string, key: string): Promise<string> {
    this.attachControl(id, key);
    return '';
  }

  touch(): void {}

  desktop(id: string): string {
    this.#runningNow(id);
    if (this.desktopSocket !== null) return this.desktopSocket;
    throw new TroupeError('NOT_FOUND', 'The session has no desktop');
  }

  devTools(id: string): DevTools {
    if (this.#runningNow(id).mode === 'auto') throw new TroupeError('SESSION_BUSY', 'It works for a job');
    const connect = () => Promise.reject(new TroupeError('WORKER_LOST', 'There is no browser'));
    return { product: 'none', downloadsDir: '', uploadsDir: '', connect };
  }

  #runningNow(id: string): SessionRecord {
    const record = this.#sessions.known(id);
    if (record === undefined || isEnded(record.status)) throw new TroupeError('SESSION_ENDED', 'It does not run');
    return record;
  }

  async #running(id: string): Promise<void> {
    const { status } = await this.#sessions.get(id);
    if (isEnded(status)) throw new TroupeError('SESSION_ENDED', 'The session has ended');
  }
}
