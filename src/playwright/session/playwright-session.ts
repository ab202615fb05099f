import { type UploadFolders, uploadPaths } from '../../agent-js/acting/uploads.js';
import type { Agent } from '../../agent-js/agent.js';
import { sandboxTable } from '../../agent-js/playwright-api/sandbox-table.js';
import { stretched, unstretched } from '../../base/deadline.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import type { SessionEvent } from '../../protocol/events.js';
import { readBundle } from '../../script/bundle.js';
import type { HostCallContext, HostModule } from '../../script/host-module.js';
import type { Reply, ThreadCall, Wire } from '../wire.js';
import { type AgentCall, clockCall, mockCall } from './agent-calls.js';
import { callText, chainText, valueText } from './call-text.js';
import { type CheckedCall, checkCall, checkExpect } from './check-call.js';
import { ClockModel } from './clock-model.js';
import { Polls, SoftFailures } from './expectations.js';
import { type CallBounds, type JoinDevTools, PlaywrightLink } from './playwright-link.js';

const PRELUDE = readBundle(import.meta.url, '../prelude/playwright');
/** Waits end before the script's own time does, so that scripts see why. */
const BEFORE_DEADLINE_MS = 100;
const DEFAULT_MS = stretched(30_000);
/** Stands in a transcript where a password was typed, or may have been. */
const MASK = '••••••••';
/** Methods that type their last text argument. */
const TYPING: ReadonlySet<string> = new Set(['fill', 'pressSequentially', 'type', 'insertText']);
/** Methods of objects that live in Playwright, and reads, are no steps: the transcript shows what acts. */
const ACTING_VALUES: ReadonlySet<string> = new Set(['evaluate', 'evaluateAll', '$eval', '$$eval', 'selectOption']);
const QUIET: ReadonlySet<string> = new Set(['frame', 'frames', 'childFrames', 'parentFrame', 'opener', 'pages']);
/** What Playwright knows without asking the page, which may have a dialog open. */
const KNOWN_HERE: ReadonlySet<string> = new Set([...QUIET, 'url', 'isClosed', 'isDetached', 'name', 'viewportSize']);
const QUIET_CLASSES: ReadonlySet<string> = new Set(['Request', 'Response']);

type Expectation = ReturnType<typeof checkExpect> & ReturnType<typeof readHow>;

interface Rule {
  readonly call: CheckedCall;
  readonly targetId: string | null;
}

/** What a session's Playwright needs of the session. */
export interface PlaywrightParts {
  readonly agent: Agent;
  readonly join: JoinDevTools;
  /** Passes on what the browser says about downloads, which only the session's own connection hears. */
  listen(event: (text: string) => void): () => void;
  readonly folders: UploadFolders;
  /** Remembers, beyond this thread, whether there are rules of `route`, or a clock. */
  rulesStand(stand: boolean): Promise<void>;
  emit(event: SessionEvent): void;
}

/** `page`, `context` and `expect` of a session's scripts. Nothing is started before a script calls one of them. */
export class PlaywrightSession {
  readonly module: HostModule;
  readonly #parts: PlaywrightParts;
  readonly #closing = new AbortController();
  #link: Promise<PlaywrightLink> | null = null;
  /** The tab that `page` stands for in each script, by the signal that ends the script. */
  readonly #pageOf = new WeakMap<AbortSignal, string>();
  #timeouts = { any: DEFAULT_MS, navigation: DEFAULT_MS };
  #rules: readonly Rule[] = [];
  /** Null until a script has used the clock. */
  #clock: ClockModel | null = null;
  /** Connections that are over and whose rules still stand. */
  readonly #old = new Set<PlaywrightLink>();
  readonly #polls = new Polls();
  readonly #soft = new SoftFailures();

  constructor(parts: PlaywrightParts) {
    this.#parts = parts;
    this.module = {
      name: 'playwright',
      prelude: PRELUDE,
      lookups: ['table'],
      calls: {
        table: async () => sandboxTable(),
        call: ([chain, method, args], context) => this.#call(checkCall(chain, method, args), context),
        settle: ([ticket], context) => this.#settle(ticket, context),
        expect: ([subject, matcher, args, how], context) => this.#expect(subject, matcher, args, how, context),
        poll: ([options], context) => this.#polls.begin(options, waitMs(context)),
        tryPoll: (args, context) => this.#tryPoll(args, context),
        fresh: (_, context) => this.#fresh(context),
      },
      finished: (signal) => this.#soft.throwAll(signal),
    };
  }

  /** The agent's module with the calls `mock` and `clock` in addition, which are Playwright's. */
  addTo(module: HostModule): HostModule {
    const calls: HostModule['calls'] = {
      mock: async ([url, answer], context) => this.#agentCall(mockCall(url, answer), context),
      clock: async ([method, ...given], context) => this.#agentCall(clockCall(method, given), context),
    };
    return { ...module, calls: { ...module.calls, ...calls } };
  }

  /** Disconnects Playwright. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort(new TroupeError('SESSION_ENDED', 'The session has ended'));
    const link = await this.#link?.catch(() => null);
    await link?.release();
    for (const old of this.#old) await old.release();
  }

  async #agentCall({ call, text, name }: AgentCall, context: HostCallContext): Promise<null> {
    await this.#call(call, context, { text, name });
    return null;
  }

  /** @param as how the step is shown, if not as the call itself */
  async #call(call: CheckedCall, context: HostCallContext, as?: Omit<AgentCall, 'call'>): Promise<Reply> {
    const { chain, of, method, signature } = call;
    if (method === 'setDefaultTimeout' || method === 'setDefaultNavigationTimeout') return this.#setTimeout(call);
    if (of === 'Download' && method === 'saveAs') return this.#saveDownload(call, context);
    const args = await this.#withPaths(call);
    const thread = this.#threadCall({ ...call, args }, context);
    const added = method === 'route' ? { call, targetId: thread.targetId } : null;
    if (added !== null) await this.#setRules([...this.#rules, added]);
    if (method === 'unroute' || method === 'unrouteAll') {
      await this.#setRules(this.#rules.filter((rule) => !undoes(call, rule)));
    }
    // It stands from here on: what is cut off may have been done.
    if (of === 'Clock') await this.#setClock(this.#clock ?? new ClockModel());
    const run = async (): Promise<Reply> => {
      if (of !== 'Dialog' && !KNOWN_HERE.has(method)) this.#throwIfDialog(thread.targetId);
      const link = await this.#connected(context);
      const done = link.call({ ...thread, ...this.#timed(context) }, boundsOf(context));
      const reply = await done.catch(async (error: unknown) => {
        if (added !== null && encodeError(error).code === 'SCRIPT_ERROR') {
          await this.#setRules(this.#rules.filter((rule) => rule !== added));
        }
        throw error;
      });
      if (of === 'Clock') this.#clock?.applied(method, args);
      return reply;
    };
    const { kind } = signature.result;
    const acts = kind === 'value' || kind === 'locators' ? ACTING_VALUES.has(method) : !QUIET.has(method);
    if (!acts || kind === 'later' || QUIET_CLASSES.has(of)) return run();
    let shown: readonly Wire[] = TYPING.has(method) ? masked(call.args) : call.args;
    const step = {
      method: as?.name ?? method,
      source: () => as?.text ?? callText(chain, method, shown),
      slug: () => as?.name ?? chainText(chain),
      shownResult,
    };
    return this.#parts.agent.otherStep(step, context.site, async () => {
      const typing = TYPING.has(method);
      const inFocus = typing && of === 'Keyboard' && !(await this.#isSecret(thread, context));
      const reply = await run();
      // A field is asked once it is there. Where it is not known, the text may be a password.
      if (inFocus || (typing && of !== 'Keyboard' && !(await this.#isSecret(thread, context)))) shown = call.args;
      return reply;
    });
  }

  /** The browser saves into the session's folder; the file gets its name there. */
  async #saveDownload({ chain, args: [name] }: CheckedCall, context: HostCallContext): Promise<Reply> {
    const link = await this.#connected(context);
    const ask = async (method: 'failure' | 'url'): Promise<unknown> => {
      const call = { chain, method, args: [], targetId: null, ...this.#timed(context) };
      const reply = await link.call(call, boundsOf(context));
      return reply.kind === 'value' ? reply.value : null;
    };
    const failure = await ask('failure');
    if (failure !== null) throw new TroupeError('ACTION_FAILED', `The download failed: ${String(failure)}`);
    const { signal, ms } = boundsOf(context);
    const bounds = { signal, deadline: performance.now() + stretched(ms) };
    await this.#parts.agent.downloads.rename(String(await ask('url')), String(name), bounds);
    return { kind: 'value' };
  }

  async #isSecret(call: ThreadCall, context: HostCallContext): Promise<boolean> {
    try {
      const link = await this.#connected(context);
      return await link.isSecret(call, boundsOf(context));
    } catch {
      return true;
    }
  }

  async #settle(ticket: unknown, context: HostCallContext): Promise<Reply> {
    if (typeof ticket !== 'number') throw new TroupeError('SCRIPT_ERROR', 'This is not a wait');
    const link = await this.#connected(context);
    return link.settle(ticket, boundsOf(context));
  }

  async #expect(rawSubject: unknown, rawMatcher: unknown, rawArgs: unknown, rawHow: unknown, context: HostCallContext) {
    const call = { ...checkExpect(rawSubject, rawMatcher, rawArgs), ...readHow(rawHow) };
    const { subject, matcher, args, not } = call;
    const run = async (): Promise<Reply> => {
      await this.#compare(call, context);
      return { kind: 'value' };
    };
    // Values are no part of the page: there is nothing to picture.
    if (!Array.isArray(subject) || subject[0] !== 'c') return this.#reported(call, context, run);
    const text = `expect(${valueText(subject)})${not ? '.not' : ''}.${matcher}(${args.map(valueText).join(', ')})`;
    const step = { method: 'expect', source: () => text, slug: () => matcher, shownResult };
    return this.#reported(call, context, () => this.#parts.agent.otherStep(step, context.site, run));
  }

  /** One attempt of a polled expectation; false: the function may run again. */
  #tryPoll([poll, rawSubject, rawMatcher, rawArgs, rawHow]: readonly unknown[], context: HostCallContext) {
    const call = { ...checkExpect(rawSubject, rawMatcher, rawArgs), ...readHow(rawHow) };
    const attempt = () => this.#polls.attempt(poll, context.signal, () => this.#compare(call, context));
    return this.#reported(call, context, attempt);
  }

  async #compare(call: Expectation, context: HostCallContext): Promise<void> {
    const targetId = this.#target(context);
    this.#throwIfDialog(targetId);
    const link = await this.#connected(context);
    const { subject, matcher, args, not, message } = call;
    const expectation = { subject, matcher, args, not, message, targetId, ...this.#timed(context) };
    await link.expect(expectation, boundsOf(context));
  }

  /** Emits how an expectation ended. One that is soft fails the script at its end. */
  async #reported({ message, soft }: Expectation, context: HostCallContext, run: () => Promise<Reply>): Promise<Reply> {
    try {
      const reply = await run();
      const again = reply.kind === 'value' && reply.value === false;
      if (!again) this.#checked(context, true, message, null);
      return reply;
    } catch (error) {
      if (!(error instanceof TroupeError) || error.code !== 'MATCH_FAILED') throw error;
      this.#checked(context, false, message, error.message);
      if (!soft) throw error;
      this.#soft.add(context, error);
      return { kind: 'value', value: true };
    }
  }

  #checked({ site }: HostCallContext, ok: boolean, message: string | null, failure: string | null): void {
    const { flow, line, column } = site;
    this.#parts.emit({
      type: 'AssertionChecked',
      data: {
        ok,
        ...(message === null ? {} : { message }),
        ...(failure === null ? {} : { failures: [{ path: '$', message: failure }] }),
        ...(flow === null ? {} : { flow }),
        ...(line === null ? {} : { line }),
        ...(column === null ? {} : { column }),
      },
    });
  }

  async #fresh(context: HostCallContext): Promise<Reply> {
    await this.#setRules([]);
    // Playwright has no call that ends a clock: it ends with its connection.
    if (this.#clock !== null) {
      await this.#setClock(null);
      await (await this.#link?.catch(() => null))?.release();
    }
    const link = await this.#connected(context);
    await link.fresh({ targetId: this.#target(context), ...this.#timed(context) }, boundsOf(context));
    return { kind: 'value' };
  }

  /** A page with an open dialog answers nothing; waiting for it would take the script's whole time. */
  #throwIfDialog(targetId: string | null): void {
    const tab = this.#parts.agent.tabs.all.find((one) => one.targetId === targetId);
    if (tab !== undefined && tab.dialog !== null) throw tab.dialogError();
  }

  #setTimeout({ method, args: [ms] }: CheckedCall): Reply {
    if (typeof ms !== 'number') throw new TroupeError('SCRIPT_ERROR', `${method} takes a number of milliseconds`);
    const bound = ms === 0 ? Number.POSITIVE_INFINITY : stretched(ms);
    if (method === 'setDefaultTimeout') this.#timeouts = { any: bound, navigation: bound };
    else this.#timeouts = { ...this.#timeouts, navigation: bound };
    return { kind: 'value' };
  }

  #threadCall({ chain, method, args }: CheckedCall, context: HostCallContext): ThreadCall {
    return { chain, method, args, targetId: this.#target(context), ...this.#timed(context) };
  }

  #timed(context: HostCallContext): { timeoutMs: number; defaultMs: number; navigationMs: number } {
    const timeoutMs = waitMs(context);
    const { any, navigation } = this.#timeouts;
    return { timeoutMs, defaultMs: Math.min(any, timeoutMs), navigationMs: Math.min(navigation, timeoutMs) };
  }

  /** `page` is the tab that was active when the script first used it, and stays it, whatever opens. */
  #target({ signal }: HostCallContext): string | null {
    const { tabs } = this.#parts.agent;
    const known = this.#pageOf.get(signal) ?? (tabs.all.length === 0 ? undefined : tabs.active.targetId);
    if (known === undefined) return null;
    this.#pageOf.set(signal, known);
    return known;
  }

  /** Names of files become paths in the session's own folder. */
  async #withPaths({ args, signature }: CheckedCall): Promise<readonly Wire[]> {
    const at = signature.parameters.findIndex(({ type }) => type === 'FileNames');
    if (at === -1) return args;
    const given = args[at];
    const names = typeof given === 'string' ? [given] : Array.isArray(given) && given[0] === 'a' ? given[1] : null;
    if (names === null || names.some((name: unknown) => typeof name !== 'string')) {
      throw new TroupeError('SCRIPT_ERROR', 'Files are given by name: PUT them to the session, or use File.write');
    }
    const paths = names.length === 0 ? [] : await uploadPaths(this.#parts.folders, names.map(String));
    return args.map((arg, index) => (index === at ? ['a', paths] : arg));
  }

  async #connected({ signal }: HostCallContext): Promise<PlaywrightLink> {
    const known = await this.#link?.catch(() => null);
    if (known?.isOpen === true) return known;
    this.#closing.signal.throwIfAborted();
    this.#link = this.#connect(AbortSignal.any([signal, this.#closing.signal]));
    return this.#link;
  }

  async #connect(signal: AbortSignal): Promise<PlaywrightLink> {
    const { join, listen } = this.#parts;
    const lingers = () => this.#stands && !this.#closing.signal.aborted;
    const link = await PlaywrightLink.open({ join, listen, lingers }, signal);
    const bounds = { signal, ms: DEFAULT_MS };
    const times = { timeoutMs: DEFAULT_MS, defaultMs: DEFAULT_MS, navigationMs: DEFAULT_MS };
    for (const [method, time] of this.#clock?.calls() ?? []) {
      const chain = { root: 'context', links: [['clock', null] as const] };
      await link.call({ chain, method, args: [time], targetId: null, ...times }, bounds).catch(() => undefined);
    }
    for (const { call, targetId } of this.#rules) {
      const { chain, method, args } = call;
      // The tab of a rule may have been closed.
      await link.call({ chain, method, args, targetId, ...times }, bounds).catch(() => undefined);
    }
    // The rules stand again: those of earlier connections may go.
    for (const old of this.#old) await old.release((url) => link.isRouted(url, bounds).catch(() => true));
    this.#old.clear();
    link.over.addEventListener('abort', () => this.#replace(link));
    if (!link.isOpen) this.#replace(link);
    return link;
  }

  /** A page with rules or a clock does not wait for the next script: Playwright is connected again at once. */
  #replace(link: PlaywrightLink): void {
    if (this.#closing.signal.aborted) return;
    if (!this.#stands) {
      void link.release();
      return;
    }
    this.#old.add(link);
    const next = this.#connect(this.#closing.signal);
    // If it fails, the requests wait for the next script, which connects again.
    next.catch(() => undefined);
    this.#link = next;
  }

  /** Whether there are rules of `route`, or a clock. */
  get #stands(): boolean {
    return this.#rules.length > 0 || this.#clock !== null;
  }

  async #setRules(rules: readonly Rule[]): Promise<void> {
    const stood = this.#stands;
    this.#rules = rules;
    if (stood !== this.#stands) await this.#parts.rulesStand(!stood);
  }

  async #setClock(clock: ClockModel | null): Promise<void> {
    const stood = this.#stands;
    this.#clock = clock;
    if (stood !== this.#stands) await this.#parts.rulesStand(!stood);
  }
}

/** Of an object that stays in Playwright nothing is to be seen. */
function shownResult(reply: unknown): unknown {
  return typeof reply === 'object' && reply !== null && 'value' in reply ? reply.value : null;
}

function readHow(how: unknown): { not: boolean; message: string | null; soft: boolean } {
  const [not, message, soft] = Array.isArray(how) ? how : [];
  return {
    not: not === true,
    soft: soft === true,
    message: typeof message === 'string' ? message.slice(0, 1_000) : null,
  };
}

/** Whether an unroute ends a rule: the same object, and the same address unless all are ended. */
function undoes(call: CheckedCall, { call: rule }: Rule): boolean {
  if (JSON.stringify(rule.chain) !== JSON.stringify(call.chain)) return false;
  return call.method === 'unrouteAll' || JSON.stringify(rule.args[0]) === JSON.stringify(call.args[0]);
}

/** The arguments with a mask for the text that is typed. */
function masked(args: readonly Wire[]): readonly Wire[] {
  const at = args.findLastIndex((arg) => typeof arg === 'string');
  return args.map((arg, index) => (index === at ? MASK : arg));
}

function waitMs(context: HostCallContext): number {
  return Math.max(1, Math.floor(context.remainingMs() - 2 * BEFORE_DEADLINE_MS));
}

function boundsOf(context: HostCallContext): CallBounds {
  return { signal: context.signal, ms: Math.max(1, unstretched(context.remainingMs() - BEFORE_DEADLINE_MS)) };
}
