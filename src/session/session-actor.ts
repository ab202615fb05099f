import { Routes, requestsModule, serviceReach } from '#request-client';
import { type ActorContext, type Behaviour, type Handlers, later, type Termination } from '../actors/actor.js';
import type { ConnectionEnd } from '../agent-js/browser/browser-port.js';
import { filesModule } from '../agent-js/files/files.js';
import { flowModule } from '../agent-js/flows/flow.js';
import { Handoffs } from '../agent-js/handoff.js';
import type { CastUser } from '../agent-js/pictures/screencast.js';
import { Secrets } from '../agent-js/secrets.js';
import { SavedStates } from '../agent-js/state/saved-states.js';
import { StepOrder } from '../agent-js/step-order.js';
import type { TaskEnd } from '../autonomy/loop.js';
import { settlesWithin, stretched, withSignal } from '../base/deadline.js';
import { encodeError, TroupeError } from '../protocol/errors.js';
import type { EventRow } from '../protocol/event-row.js';
import type { SessionEvent } from '../protocol/events.js';
import { Sandbox } from '../script/sandbox.js';
import { layered, scriptLayers, sessionLayers } from './call-layers.js';
import { ClientSteps } from './client-steps.js';
import { DevToolsClients } from './connection/devtools-clients.js';
import { ControlLock } from './control/control-lock.js';
import { InputDispatcher } from './control/input-dispatcher.js';
import { Person } from './control/person.js';
import { type Asker, ScriptQueue } from './control/script-queue.js';
import { driveBrowser } from './driven-browser.js';
import { EventBatcher } from './event-batcher.js';
import { FlowJob } from './flow-job.js';
import type { FlowsOutcome, SessionArgs, SessionMessages } from './messages.js';
import { ModelPhase, type ModelTask } from './model-phase.js';
import { closeParts, type OpenParts } from './open-parts.js';
import { RulesMark } from './rules-mark.js';
import { runScript, type ScriptRequest } from './run-script.js';
import { Screen } from './screen.js';
import { SecondBrowsers } from './second-browsers.js';
import { type SessionInput, type SessionState, transition } from './session-state.js';

/** Scripts that may wait behind the running one (spec section 3). */
const WAITING_SCRIPTS = 64;

/** One session: the connection to its browser, its script thread, and the queue of scripts. */
export class SessionBehaviour implements Behaviour<SessionMessages> {
  readonly #args: SessionArgs;
  readonly #context: ActorContext<readonly EventRow[]>;
  readonly #batcher: EventBatcher;
  readonly #queue = new ScriptQueue(WAITING_SCRIPTS);
  readonly #closing = new AbortController();
  readonly #secrets: Secrets;
  readonly #controlLock: ControlLock;
  readonly #handoffs = new Handoffs((event) => this.#emit(event));
  readonly #states = new SavedStates((event) => this.#emit(event));
  readonly #clientSteps = new ClientSteps();
  /** Receives the console output of the model's current script. */
  #onConsole: ((text: string) => void) | undefined;
  #state: SessionState = { kind: 'new' };
  #parts: OpenParts | undefined;
  #modelPhase: ModelPhase | undefined;
  #person: Person | undefined;
  #scripts = 0;
  /** A page was lost, and no script has been notified yet. */
  #pageLost = false;

  constructor(args: SessionArgs, context: ActorContext<readonly EventRow[]>) {
    this.#args = args;
    this.#context = context;
    this.#secrets = new Secrets(args.secrets);
    this.#controlLock = new ControlLock(args.controller);
    this.#batcher = new EventBatcher(args.id, (batch) => context.emit(batch));
  }

  readonly handlers: Handlers<SessionMessages> = {
    Open: ({ timeoutMs, takesOver }) => this.#open(timeoutMs, takesOver),
    ApplyOptions: async (options) => {
      await this.#openParts().browser.apply(options);
      return null;
    },
    Probe: ({ timeoutMs }, asker) => later(this.#probe(timeoutMs, asker)),
    Settle: ({ pictureMs }) => later(this.#settle(pictureMs)),
    RunScript: (order, asker) =>
      later(
        this.#secrets.hideJson(() => {
          const until = (closed: AbortSignal) =>
            order.onDisconnect === 'stop' ? AbortSignal.any([closed, asker.signal]) : closed;
          if (order.by === 'person') return this.#ensurePerson().run(order, asker);
          return this.#queue.run((closed) => this.#runScript(order, until(closed)), asker);
        }),
      ),
    GiveControl: ({ to }) => later(this.#giveControl(to)),
    AnswerHandoff: (given) => {
      this.#handoffs.answer(given);
      return null;
    },
    CollectState: ({ state }) => this.#states.collected(state),
    SettleState: ({ state, outcome }) => {
      this.#states.settle(state, outcome);
      return null;
    },
    GiveBrowser: ({ browser, given, timeoutMs }) => later(this.#openParts().seconds.give(browser, given, timeoutMs)),
    RefuseBrowser: ({ browser, error }) => {
      this.#parts?.seconds.refuse(browser, error);
      return null;
    },
    SendInput: ({ inputs }) => later(this.#openParts().input.send(inputs)),
    CopySelection: () => later(this.#redacted(() => this.#openParts().input.selection())),
    RunFlows: ({ paths, timeoutMs }, asker) =>
      later(this.#redacted(() => this.#queue.run((closed) => this.#runFlows(paths, timeoutMs, closed), asker))),
    RunModel: (order, { signal }) => later(this.#redacted(() => this.#runModel(order, signal))),
    NextFrame: ({ user, ...order }, { signal }) => later(this.#openParts().screens[user].next(order, signal)),
    AttachDevTools: (_, { signal }) => {
      const { agent, clients } = this.#openParts();
      agent.keepView();
      return later(clients.attach(signal));
    },
    SendDevTools: ({ client, ...command }) => {
      this.#parts?.clients.send(client, command);
      return null;
    },
    NextDevTools: ({ client, timeoutMs }, { signal }) =>
      later(withSignal({ signals: [signal], ms: timeoutMs }, (until) => this.#openParts().clients.next(client, until))),
    BeginStep: (order, { signal }) =>
      later(
        this.#controlLock
          .waitForControl(AbortSignal.any([signal, this.#closing.signal]))
          .then(() => this.#clientSteps.begin(this.#openParts().agent, order)),
      ),
    EndStep: ({ step, error }) => this.#clientSteps.end(step, error),
    DetachDevTools: ({ client }) => {
      this.#parts?.clients.detach(client);
      return null;
    },
    ModelAnswerRecorded: ({ call, error }) => this.#modelPhase?.answerRecorded(call, error) ?? null,
  };

  async stopped(termination: Termination): Promise<void> {
    const error = endError(termination);
    this.#advance({ type: 'Ended', error: encodeError(error) });
    this.#closing.abort(error);
    this.#queue.close(error);
    this.#clientSteps.close();
    const parts = this.#parts;
    this.#parts = undefined;
    for (const screen of Object.values(parts?.screens ?? {})) screen.close();
    void this.#person?.close();
    if (parts !== undefined) await closeParts(parts);
    this.#batcher.close();
  }

  async #open(timeoutMs: number, takesOver: boolean): Promise<{ pageLost: boolean }> {
    this.#advance({ type: 'Opening' });
    const { flowsDir, requestsDir, args, healedDir } = this.#args;
    const emit = (event: SessionEvent) => this.#emit(event);
    const rules = new RulesMark(this.#args.rulesMark);
    const losesPages = takesOver && rules.stands;
    const shared = {
      args: this.#args,
      order: new StepOrder(emit, this.#args.firstStep),
      states: this.#states,
      emit,
      redact: <T>(shown: T): T => this.#secrets.redact(shown),
    };
    const first = await driveBrowser(
      this.#args,
      shared,
      { name: null, rulesStand: (stand) => rules.set(stand) },
      { takesOver, losesPages, signal: this.#closing.signal, deadlineMs: timeoutMs },
    );
    const { channel, browser, agent, playwright, trace } = first;
    const seconds = new SecondBrowsers(shared);
    try {
      if (losesPages) await rules.set(false);
      const reach = serviceReach(this.#args.reach);
      const flows = new FlowJob({
        emit,
        healedDir,
        heldMs: () => this.#handoffs.waitedMs,
        failed: async ({ error }, signal) => {
          if (this.#args.pausesOnFailure) await this.#handoffs.pause(`The flow failed: ${error}`, signal);
        },
      });
      const own = sessionLayers({
        secondBrowsers: (module) => seconds.addTo(module, first),
        handoffs: (module) => this.#handoffs.addTo(module),
      });
      const offered = [
        layered(first.module, own),
        playwright.module,
        flowModule({ flowsDir, onLoad: (flow, source) => trace?.source(flow, source) }),
        filesModule({ flowsDir }),
        requestsModule({ requestsDir, reach, routes: new Routes(this.#args.connection) }),
      ];
      const layers = scriptLayers({
        controlLock: (module) => this.#controlLock.wrap(module),
        flowTape: (module) => flows.wrap(module),
        secrets: (module) => this.#secrets.wrap(module),
      });
      const modules = offered.map((module) => layered(module, layers));
      const personLayers = layers.filter(({ agentOnly }) => !agentOnly);
      const emitted = (event: SessionEvent) => {
        flows.forward(event);
        if (!flows.tape.replaying) agent.observe(event);
      };
      const sandbox = await Sandbox.start({ modules, emit: emitted, args });
      const screenFor = (user: CastUser) => new Screen(agent.screencast, () => agent.activePage, user);
      const screens = { viewers: screenFor('viewers'), video: screenFor('video') };
      const input = new InputDispatcher(browser, () => agent.activePage);
      const forPerson = {
        agent,
        modules: offered.map((module) => layered(module, personLayers)),
        args,
        emit,
        nextScript: () => ++this.#scripts,
      };
      const clients = new DevToolsClients(channel);
      this.#parts = { ...first, clients, sandbox, flows, screens, input, seconds, forPerson };
      this.#closing.signal.throwIfAborted();
    } catch (error) {
      await closeParts({ ...first, sandbox: this.#parts?.sandbox });
      this.#parts = undefined;
      throw error;
    }
    this.#advance({ type: 'Opened' });
    void browser.lost.then((end) => this.#connectionLost(end));
    this.#pageLost = browser.pageLost;
    return { pageLost: browser.pageLost };
  }

  async #probe(limitMs: number, asker: Asker): Promise<null> {
    const { browser, sandbox } = this.#openParts();
    const timeoutMs = stretched(limitMs);
    const script = { source: '(() => 6 * 7)()', name: 'probe.js', kind: 'script', timeoutMs } as const;
    await Promise.all([
      browser.probe(timeoutMs),
      this.#queue.run((closed) => sandbox.run({ ...script, signal: closed }), asker),
    ]);
    return null;
  }

  async #giveControl(to: 'agent' | 'person'): Promise<null> {
    this.#openParts();
    if (to === 'person') {
      await this.#controlLock.take();
      return null;
    }
    const person = this.#person;
    this.#person = undefined;
    await person?.close();
    this.#openParts().agent.changed();
    this.#controlLock.giveBack();
    return null;
  }

  #ensurePerson(): Person {
    this.#person ??= new Person(this.#openParts().forPerson);
    return this.#person;
  }

  async #settle(pictureMs: number): Promise<null> {
    const agent = this.#parts?.agent;
    if (agent !== undefined && !(await settlesWithin(agent.settle(), pictureMs))) agent.flush();
    this.#batcher.flush();
    return null;
  }

  async #runScript(order: ScriptRequest, closed: AbortSignal): Promise<string> {
    const { sandbox, agent } = this.#openParts();
    this.#throwIfPageLost();
    const script = ++this.#scripts;
    this.#advance({ type: 'ScriptBegan', script });
    try {
      return await runScript({ sandbox, agent, emit: (event) => this.#emit(event) }, script, order, closed);
    } finally {
      this.#advance({ type: 'ScriptEnded' });
    }
  }

  async #runFlows(paths: readonly string[], timeoutMs: number, signal: AbortSignal): Promise<FlowsOutcome> {
    const parts = this.#openParts();
    return this.#inFlow(() => parts.flows.run(paths, parts, { timeoutMs, signal }));
  }

  /** All flows of a run count as one script of the session. */
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

  async #runModel(order: ModelTask, asker: AbortSignal): Promise<TaskEnd> {
    const parts = this.#openParts();
    const phase = new ModelPhase({
      flowsDir: this.#args.flowsDir,
      secrets: this.#secrets,
      agent: parts.agent,
      emit: (event) => this.#emit(event),
      evaluate: async (source, timeoutMs, signal, onConsole) => {
        this.#onConsole = onConsole;
        try {
          return await this.#queue.run(
            (closed) => this.#runScript({ source, kind: 'model', timeoutMs }, AbortSignal.any([closed, signal])),
            { signal },
          );
        } finally {
          this.#onConsole = undefined;
        }
      },
      heldMs: () => this.#handoffs.waitedMs,
      waitForControl: (signal) => this.#controlLock.waitForControl(signal),
      resumeFlow: (how, timeoutMs, signal) =>
        this.#queue.run(
          (closed) => {
            const bounds = { timeoutMs, signal: AbortSignal.any([closed, signal]) };
            return this.#inFlow(() => parts.flows.resume(how, parts, bounds));
          },
          { signal },
        ),
    });
    this.#modelPhase = phase;
    try {
      return await phase.run(order, AbortSignal.any([this.#closing.signal, asker]));
    } finally {
      this.#modelPhase = undefined;
      await parts.agent.settle();
    }
  }

  /** Redacts secrets from every event. */
  #emit(event: SessionEvent): void {
    const redacted = this.#secrets.redact(event);
    this.#batcher.add(redacted);
    if (redacted.type === 'ConsoleWritten') this.#onConsole?.(redacted.data.text);
  }

  /** Redacts secrets from every reply. */
  #redacted<T>(work: () => Promise<T>): Promise<T> {
    return this.#secrets.hide(work);
  }

  /** A script that relies on its page must not run on another one without an error. */
  #throwIfPageLost(): void {
    if (!this.#pageLost) return;
    this.#pageLost = false;
    throw new TroupeError(
      'SESSION_RESTARTED',
      'The session was restarted and its page was closed, because it did not answer or its clock or rules of page.route were lost. The script was not run; open the page and run it again',
      { pageLost: true },
    );
  }

  /** If the browser itself is healthy, the restarted actor takes it over. */
  #connectionLost({ reason, error }: ConnectionEnd): void {
    if (this.#state.kind === 'ended') return;
    if (error.code === 'WORKER_LOST') this.#emit({ type: 'BrowserLost', data: { reason } });
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

function endError(termination: Termination): unknown {
  if (termination.reason === 'crash' || termination.reason === 'lost') return termination.error;
  return new TroupeError('SESSION_ENDED', 'The session has ended');
}
