import { map, type Observable, Subject, share } from 'rxjs';
import { Agent } from '../../agent-js/agent.js';
import type { ConnectionEnd } from '../../agent-js/browser-port.js';
import { filesModule } from '../../agent-js/files.js';
import { flowModule } from '../../agent-js/flow.js';
import { NetworkLog } from '../../agent-js/network-log.js';
import { Secrets } from '../../agent-js/secrets.js';
import type { TaskEnd } from '../../autonomy/loop.js';
import { type ErrorBody, encodeError, TroupeError } from '../../protocol/errors.js';
import type { NewEvent, SessionEvent, StepKind } from '../../protocol/events.js';
import { Sandbox } from '../../script/sandbox.js';
import { type ActorContext, type Behaviour, type Handlers, later, type Termination } from '../actor.js';
import { Browser } from './browser.js';
import { batchEvents } from './event-batcher.js';
import { FlowJob } from './flow-job.js';
import type { FlowsOutcome, SessionArgs, SessionMessages } from './messages.js';
import { type ModelOrder, ModelPhase } from './model-phase.js';
import { placed } from './placed.js';
import { Screen } from './screen.js';
import { ScriptQueue } from './script-queue.js';
import { type SessionInput, type SessionState, transition } from './session-state.js';

/** Scripts that may wait behind the one that runs (spec section 3). */
const WAITING_SCRIPTS = 64;
/** A longer result stands in the transcript by its length alone. */
const LOGGED_RESULT_CHARS = 16_384;

/** What an open session holds; all of it is given back when the actor ends. */
interface OpenParts {
  readonly browser: Browser;
  readonly agent: Agent;
  readonly sandbox: Sandbox;
  readonly flows: FlowJob;
  readonly screen: Screen;
  readonly network: NetworkLog;
}

/** A script as the queue runs it. */
interface ScriptOrder {
  readonly js: string;
  readonly kind: StepKind;
  readonly timeoutMs: number;
}

/** One session: its browser's connection, its script thread, and the scripts that wait. */
export class SessionBehaviour implements Behaviour<SessionMessages> {
  readonly #args: SessionArgs;
  readonly #context: ActorContext<readonly NewEvent[]>;
  readonly #events = new Subject<SessionEvent>();
  readonly #flush = new Subject<void>();
  readonly #queue = new ScriptQueue(WAITING_SCRIPTS);
  readonly #closing = new AbortController();
  readonly #secrets: Secrets;
  /** Events as others may see them. */
  readonly #told$: Observable<SessionEvent>;
  #state: SessionState = { kind: 'new' };
  #parts: OpenParts | undefined;
  #modelPhase: ModelPhase | undefined;
  #scripts = 0;
  /** A page was lost, and no script has been told yet. */
  #pageLost = false;

  constructor(args: SessionArgs, context: ActorContext<readonly NewEvent[]>) {
    this.#args = args;
    this.#context = context;
    this.#secrets = new Secrets(args.secrets);
    this.#told$ = this.#events.pipe(
      map((event) => this.#secrets.redact(event)),
      share(),
    );
    batchEvents(this.#told$, { sessionId: args.id, now: () => new Date(), flush$: this.#flush }).subscribe((batch) =>
      context.emit(batch),
    );
  }

  readonly handlers: Handlers<SessionMessages> = {
    Open: ({ timeoutMs, takesOver }) => this.#open(timeoutMs, takesOver),
    ApplyOptions: async (options) => {
      await this.#openParts().browser.apply(options);
      return null;
    },
    Probe: ({ timeoutMs }, { signal }) => later(this.#probe(timeoutMs, signal)),
    Settle: () => later(this.#settle()),
    RunScript: (order, { signal }) =>
      later(
        this.#hide(() =>
          this.#queue.run(
            (closed) => this.#runScript(order, order.whenGone === 'stop' ? AbortSignal.any([closed, signal]) : closed),
            signal,
          ),
        ),
      ),
    RunFlows: ({ paths, timeoutMs }, { signal }) =>
      later(this.#hide(() => this.#queue.run((closed) => this.#runFlows(paths, timeoutMs, closed), signal))),
    RunModel: (order, { signal }) => later(this.#hide(() => this.#runModel(order, signal))),
    NextFrame: (order, { signal }) => later(this.#openParts().screen.next(order, signal)),
    ModelAnswerRecorded: ({ call }) => this.#modelPhase?.answerRecorded(call) ?? null,
  };

  async stopped(termination: Termination): Promise<void> {
    const error = endError(termination);
    this.#advance({ type: 'Ended', error: encodeError(error) });
    this.#closing.abort(error);
    this.#queue.close(error);
    const parts = this.#parts;
    this.#parts = undefined;
    parts?.screen.close();
    if (parts !== undefined) await closeParts(parts);
    this.#events.complete();
  }

  async #open(timeoutMs: number, takesOver: boolean): Promise<{ pageLost: boolean }> {
    this.#advance({ type: 'Opening' });
    const { endpoint, page, screenshotsDir, flowsDir, mode, args, firstStep, actMs, healedDir, networkLog } =
      this.#args;
    const emit = (event: SessionEvent) => this.#events.next(event);
    const bounds = { takesOver, signal: this.#closing.signal, deadlineMs: timeoutMs };
    const browser = await Browser.connect(endpoint, page, bounds);
    const network = new NetworkLog({ file: networkLog, redact: (entry) => this.#secrets.redact(entry) });
    browser.listen((event) => network.observe(event));
    const agent = new Agent({
      browser,
      emit,
      screenshotsDir,
      stepScreenshots: mode === 'auto' ? 'every' : 'spare',
      firstStep,
      actMs,
      redact: (shown) => this.#secrets.redact(shown),
    });
    try {
      const flows = new FlowJob({ emit, healedDir });
      const offered = [agent.module, flowModule({ flowsDir }), filesModule({ flowsDir })];
      const modules = offered.map((module) => flows.wrap(this.#secrets.wrap(module)));
      const sandbox = await Sandbox.start({ modules, emit: (event) => flows.hear(event), args });
      const screen = new Screen(browser, () => agent.activePage);
      this.#parts = { browser, agent, sandbox, flows, screen, network };
      this.#closing.signal.throwIfAborted();
    } catch (error) {
      await closeParts({ browser, agent, network, sandbox: this.#parts?.sandbox });
      this.#parts = undefined;
      throw error;
    }
    this.#advance({ type: 'Opened' });
    void browser.lost.then((end) => this.#connectionLost(end));
    this.#pageLost = browser.pageLost;
    return { pageLost: browser.pageLost };
  }

  async #probe(timeoutMs: number, asker: AbortSignal): Promise<null> {
    const { browser, sandbox } = this.#openParts();
    const script = { source: '(() => 6 * 7)()', name: 'probe.js', kind: 'script', timeoutMs } as const;
    await Promise.all([
      browser.probe(timeoutMs),
      this.#queue.run((closed) => sandbox.run({ ...script, signal: closed }), asker),
    ]);
    return null;
  }

  async #settle(): Promise<null> {
    await this.#parts?.agent.settle();
    this.#flush.next();
    return null;
  }

  async #runScript(order: ScriptOrder, closed: AbortSignal): Promise<string> {
    const { sandbox, agent } = this.#openParts();
    this.#tellPageLost();
    const script = ++this.#scripts;
    this.#advance({ type: 'ScriptBegan', script });
    this.#events.next({ type: 'ScriptStarted', data: { script, kind: order.kind, js: order.js } });
    const startedAt = performance.now();
    const finish = (end: { result?: unknown; error?: ErrorBody }) => {
      const durationMs = round(performance.now() - startedAt);
      this.#events.next({ type: 'ScriptFinished', data: { script, durationMs, ...end } });
      this.#advance({ type: 'ScriptEnded' });
    };
    try {
      const json = await sandbox.run({
        source: order.js,
        name: `script-${script}.js`,
        kind: order.kind,
        timeoutMs: order.timeoutMs,
        signal: closed,
      });
      finish({ result: loggedResult(json) });
      return json;
    } catch (thrown) {
      const error = closed.aborted ? closed.reason : await placed(thrown, agent);
      finish({ error: encodeError(error) });
      throw error;
    }
  }

  async #runFlows(paths: readonly string[], timeoutMs: number, signal: AbortSignal): Promise<FlowsOutcome> {
    const parts = this.#openParts();
    return this.#inFlow(() => parts.flows.run(paths, parts, { timeoutMs, signal }));
  }

  /** Flows are one script of the session's life, however many they are. */
  async #inFlow<T>(work: () => Promise<T>): Promise<T> {
    const { agent } = this.#openParts();
    this.#advance({ type: 'ScriptBegan', script: ++this.#scripts });
    try {
      return await work();
    } finally {
      await agent.settle();
      this.#advance({ type: 'ScriptEnded' });
    }
  }

  async #runModel(order: ModelOrder, asker: AbortSignal): Promise<TaskEnd> {
    const parts = this.#openParts();
    const phase = new ModelPhase({
      flowsDir: this.#args.flowsDir,
      secrets: this.#secrets,
      agent: parts.agent,
      emit: (event) => this.#events.next(event),
      evaluate: async (js, timeoutMs, signal, onConsole) => {
        const console = this.#told$.subscribe((event) => {
          if (event.type === 'ConsoleWritten') onConsole(event.data.text);
        });
        try {
          return await this.#queue.run(
            (closed) => this.#runScript({ js, kind: 'model', timeoutMs }, AbortSignal.any([closed, signal])),
            signal,
          );
        } finally {
          console.unsubscribe();
        }
      },
      resumeFlow: (how, timeoutMs, signal) =>
        this.#queue.run((closed) => {
          const bounds = { timeoutMs, signal: AbortSignal.any([closed, signal]) };
          return this.#inFlow(() => parts.flows.resume(how, parts, bounds));
        }, signal),
    });
    this.#modelPhase = phase;
    try {
      return await phase.run(order, AbortSignal.any([this.#closing.signal, asker]));
    } finally {
      this.#modelPhase = undefined;
      await parts.agent.settle();
    }
  }

  /** No answer has a secret's value. */
  #hide<T>(work: () => Promise<T>): Promise<T> {
    return this.#secrets.hide(work);
  }

  /** A script that counts on its page must not meet another one unawares. */
  #tellPageLost(): void {
    if (!this.#pageLost) return;
    this.#pageLost = false;
    throw new TroupeError(
      'SESSION_RESTARTED',
      'The session was restarted, and its page did not answer any more: it was closed, and the script was not run',
      { pageLost: true },
    );
  }

  /** A browser that is well is taken over by the actor that comes next. */
  #connectionLost({ reason, error }: ConnectionEnd): void {
    if (this.#state.kind === 'ended') return;
    if (error.code === 'WORKER_LOST') this.#events.next({ type: 'BrowserLost', data: { reason } });
    this.#context.crash(error);
  }

  #openParts(): OpenParts {
    if (this.#parts === undefined) throw new TroupeError('SESSION_ENDED', 'The session is not open');
    return this.#parts;
  }

  #advance(input: SessionInput): void {
    this.#state = transition(this.#state, input);
  }
}

/** The parts depend on one another from left to right, so they are given back in that order. */
async function closeParts({
  sandbox,
  agent,
  browser,
  network,
}: { [P in 'sandbox' | 'agent' | 'browser' | 'network']?: OpenParts[P] | undefined }): Promise<void> {
  // The last step is told at once, whatever its picture or the script still take.
  void agent?.settle();
  await sandbox?.close();
  await agent?.dispose();
  await browser?.close();
  await network?.close();
}

function endError(termination: Termination): unknown {
  if (termination.reason === 'crash' || termination.reason === 'lost') return termination.error;
  return new TroupeError('SESSION_ENDED', 'The session has ended');
}

function loggedResult(json: string): unknown {
  return json.length <= LOGGED_RESULT_CHARS ? JSON.parse(json) : `[${json.length} characters of JSON]`;
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
