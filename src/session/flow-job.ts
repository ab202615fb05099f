import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Agent } from '../agent-js/agent.js';
import { callSource } from '../agent-js/call-source.js';
import {
  asWritten,
  type Continuation,
  calledOf,
  FlowTape,
  type Resumption,
  type TapedCall,
} from '../autonomy/flow-tape.js';
import { Healer } from '../autonomy/healing/healer.js';
import type { ResumeRequest } from '../autonomy/tools.js';
import { flowOfFile, hookOf } from '../base/flow-file.js';
import { writeFile } from '../files/thread-files.js';
import { type ErrorBody, encodeError, TroupeError } from '../protocol/errors.js';
import type { EventData, SessionEvent } from '../protocol/events.js';
import type { HostModule } from '../script/host-module.js';
import type { Sandbox } from '../script/sandbox.js';
import { errorWithPage } from './error-with-page.js';
import { flowFailed, isBeyondRepair } from './flow-failed.js';
import { HeldDeadline } from './held-deadline.js';
import type { FlowsOutcome } from './messages.js';

/** Waits end 100 ms before the session's time limit: an error this close to the limit was caused by it. */
const TIME_IS_UP_MS = 250;

/** A failed flow, which may be continued. */
interface Failure {
  readonly path: string;
  readonly cause: ErrorBody;
}

/** Runs a job's flow files, and continues a failed one. */
export class FlowJob {
  readonly #tape = new FlowTape();
  readonly #emit: (event: SessionEvent) => void;
  readonly #healedDir: string;
  readonly #heldMs: () => number;
  readonly #failed: (cause: ErrorBody, signal: AbortSignal) => Promise<void>;
  #healer = new Healer();
  /** The flows that the replay is in, outermost first. */
  #replayed: EventData<'FlowStarted'>[] = [];
  #failure: Failure | null = null;
  /** Flows of the job whose tests were all skipped. */
  #skipped = 0;

  /**
   * @param options.healedDir created when the first repaired flow is written
   * @param options.failed called when a flow has failed, while its page is as it left it; the job waits for it
   * @param options.heldMs how long the job has waited for people so far, in milliseconds
   */
  constructor(options: {
    readonly emit: (event: SessionEvent) => void;
    readonly healedDir: string;
    readonly heldMs: () => number;
    readonly failed: (cause: ErrorBody, signal: AbortSignal) => Promise<void>;
  }) {
    this.#failed = options.failed;
    this.#heldMs = options.heldMs;
    this.#emit = options.emit;
    this.#healedDir = options.healedDir;
  }

  /** The calls of the failed flow; empty if none failed. */
  get tape(): FlowTape {
    return this.#tape;
  }

  wrap(module: HostModule): HostModule {
    return this.#tape.wrap(module);
  }

  /** Forwards the sandbox's events. Drops those of a replay: they were emitted when the flow first ran. */
  forward(event: SessionEvent): void {
    if (event.type === 'FlowFinished' && event.data.depth === 1 && event.data.status === 'skipped') this.#skipped += 1;
    if (!this.#tape.replaying) {
      this.#emit(event);
      return;
    }
    if (event.type === 'FlowStarted') this.#replayed.push(event.data);
    else if (event.type === 'FlowFinished') this.#replayed.pop();
  }

  /** Runs flow files in order until one fails. @throws the signal's reason */
  async run(
    paths: readonly string[],
    parts: { readonly sandbox: Sandbox; readonly agent: Agent },
    bounds: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<FlowsOutcome> {
    const deadline = new HeldDeadline(bounds.timeoutMs, this.#heldMs);
    let value: { readonly value: string } | undefined;
    this.#skipped = 0;
    for (const path of paths) {
      this.#tape.begin();
      this.#healer = new Healer();
      const ended = await this.#runOne(path, parts, deadline, bounds.signal);
      if (ended.kind === 'passed') {
        if (hookOf(path) === 'setup') value = { value: ended.json };
        continue;
      }
      const timeIsUp = deadline.leftMs < TIME_IS_UP_MS;
      const error = flowFailed(path, ended.cause, timeIsUp);
      return { status: 'failed', flow: path, error, isBeyondRepair: isBeyondRepair(ended.cause) };
    }
    this.#tape.clear();
    return { status: 'passed', flows: paths.length, skipped: this.#skipped, ...value };
  }

  /**
   * Continues the failed flow.
   * @returns the JSON text of its value
   * @throws SCRIPT_ERROR if it cannot be continued this way; the flow's next error; the signal's reason
   */
  async resume(
    request: ResumeRequest,
    parts: { readonly sandbox: Sandbox; readonly agent: Agent },
    bounds: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<string> {
    const failure = this.#failure;
    if (failure === null)
      throw new TroupeError('SCRIPT_ERROR', 'There is no failed flow to continue: finish the task with agent calls.');
    this.#replayed = [];
    const continuation: Continuation =
      request.kind === 'done' ? { kind: 'done', value: await this.#answerOf(request, parts) } : request;
    const resumption = this.#tape.continueWith(failure.cause, continuation, () => this.#emitReplayedStarts());
    this.#healer.record(resumption);
    this.#emit({ type: 'FlowDeviated', data: deviation(failure, resumption) });
    const ended = await this.#runOne(
      failure.path,
      parts,
      new HeldDeadline(bounds.timeoutMs, this.#heldMs),
      bounds.signal,
    );
    if (ended.kind === 'passed') {
      await this.#propose(failure.path);
      return ended.json;
    }
    throw new TroupeError(ended.cause.code, ended.cause.error, ended.cause.details);
  }

  /** Writes repaired flows to the session's artifacts as a proposal; the flow file itself is not changed. */
  async #propose(path: string): Promise<void> {
    const healed = this.#healer.heal(this.#tape.calls);
    for (const { path: flow, file: proposed, source, patch } of healed) {
      const files = { [proposed]: source, [`${flow}.patch`]: patch };
      for (const [name, text] of Object.entries(files)) {
        const file = join(this.#healedDir, name);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, text);
      }
      this.#emit({ type: 'FlowHealed', data: { path: flowOfFile(path), flow, file: proposed } });
    }
  }

  /** The result of a call that was done by hand: the given value, or what the call's method would return. */
  async #answerOf(how: { readonly value?: unknown }, { agent }: { readonly agent: Agent }): Promise<unknown> {
    if (how.value !== undefined) return how.value;
    const failed = this.#tape.calls.at(-1);
    const place = await agent.place().catch(() => null);
    switch (failed?.target) {
      case 'agent.act':
        return { changed: true, ...place };
      case 'agent.go':
        return { ...place, status: 200 };
      case 'agent.back':
        return { ...place };
      case 'agent.wait':
        return { waitedMs: 0 };
      default:
        throw new TroupeError(
          'SCRIPT_ERROR',
          `The failed call ${failed === undefined ? '' : asWritten(failed).target} returns a value: pass it with Flow.resume({value: ...})`,
        );
    }
  }

  #emitReplayedStarts(): void {
    for (const data of this.#replayed) this.#emit({ type: 'FlowStarted', data: { ...data, resumed: true } });
    this.#replayed = [];
  }

  async #runOne(
    path: string,
    { sandbox, agent }: { readonly sandbox: Sandbox; readonly agent: Agent },
    deadline: HeldDeadline,
    signal: AbortSignal,
  ): Promise<
    { readonly kind: 'passed'; readonly json: string } | { readonly kind: 'failed'; readonly cause: ErrorBody }
  > {
    this.#failure = null;
    try {
      const json = await sandbox.run({
        source: `Flow.run(${JSON.stringify(path)}, args)`,
        name: 'job.js',
        kind: 'flow',
        timeoutMs: Math.max(1, deadline.leftMs),
        signal,
      });
      return { kind: 'passed', json };
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      const cause = encodeError(await errorWithPage(thrown, agent));
      this.#failure = { path, cause };
      await agent.settle();
      await this.#failed(cause, signal);
      return { kind: 'failed', cause };
    } finally {
      this.#tape.stop();
    }
  }
}

/** The calls that were made by hand, as source code. */
function deviation({ path, cause }: Failure, { failed, how, byHand }: Resumption): EventData<'FlowDeviated'> {
  const acting = byHand.filter((call) => call.target.startsWith('agent.') && calledOf(call) !== 'agent.look');
  return {
    path: flowOfFile(path),
    flow: failed.flow ?? flowOfFile(path),
    line: failed.line,
    failed: callSource(methodOf(failed), failed.args),
    error: cause,
    how,
    did: acting.map((call) => callSource(methodOf(call), call.args)),
  };
}

function methodOf({ target }: TapedCall): string {
  return target.slice(target.indexOf('.') + 1);
}
