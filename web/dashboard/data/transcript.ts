import type { EventData, JournalEvent } from '../../../src/protocol/events.js';
import type { Failure, FlowLine, Line, ScriptLine, Tone, TurnLine } from './line.js';

const CONTROL_ENDS: { readonly [End in EventData<'ControlReturned'>['reason']]: string } = {
  returned: 'control released',
  left: 'control released: the page that had it was closed',
  idle: 'control released: no input for too long',
};

/** How a handoff ended, in words. */
function handoffEnd({ outcome, by, note }: EventData<'HandoffEnded'>): string {
  const said = note === undefined ? '' : `: ${note}`;
  if (outcome === 'done' || outcome === 'refused') return `the person ${by ?? ''} answered: ${outcome}${said}`;
  return outcome === 'timeout' ? 'no person answered in time' : 'the script that waited for a person was stopped';
}

/**
 * A session's transcript, built from its events. Stored and live events give the same lines, so the record later looks
 * as it did live.
 */
export class Transcript {
  readonly #lines: Line[] = [];
  #last = 0;
  #attempt = 1;
  /** Steps of earlier attempts. */
  #before = 0;
  #steps = 0;
  #driver: string | null = null;
  readonly #starts: string[] = [];

  /** In their order; a new array for each call. */
  get lines(): readonly Line[] {
    return [...this.#lines];
  }

  /** When each browser of the session started, ISO 8601. */
  get starts(): readonly string[] {
    return [...this.#starts];
  }

  /** The address of the person in control; null if nobody is. */
  get driver(): string | null {
    return this.#driver;
  }

  /** Adds events in their order; known ones are skipped. */
  add(events: readonly JournalEvent[]): void {
    for (const event of events) {
      if (event.seq <= this.#last) continue;
      this.#last = event.seq;
      this.#add(event);
    }
  }

  #add(event: JournalEvent): void {
    const { at, seq } = event;
    const key = String(seq);
    const note = (
      tone: Tone,
      text: string,
      where: { flow?: string | undefined; line?: number | undefined } = {},
      output = false,
    ) => {
      const { flow, line } = where;
      const place = flow === undefined ? null : line === undefined ? flow : `${flow}:${line}`;
      this.#lines.push({ key, kind: 'note', at, depth: this.#depthOf(flow), tone, text, place, output });
    };
    switch (event.type) {
      case 'StepFinished':
        this.#addStep(key, at, event.data);
        return;
      case 'ScriptStarted': {
        const { script, js, kind } = event.data;
        this.#lines.push({ key: `script ${script}`, kind: 'script', at, depth: 0, js, by: kind, done: null });
        return;
      }
      case 'ScriptFinished':
        this.#finishScript(event.data);
        return;
      case 'FlowStarted': {
        const { path, depth, resumed = false } = event.data;
        this.#lines.push({ key, kind: 'flow', at, depth: depth - 1, path, resumed, done: null });
        return;
      }
      case 'FlowFinished':
        this.#finishFlow(event.data);
        return;
      case 'AssertionChecked': {
        const { ok, message, failures = [] } = event.data;
        const failed = failures.map(({ path, message: what }) => `${path}: ${what}`).join('; ');
        const said = message === undefined ? '' : `: ${message}`;
        note(ok ? 'good' : 'bad', ok ? `match passed${said}` : `match failed${said || ': '}${failed}`, event.data);
        return;
      }
      case 'ConsoleWritten':
        note(event.data.level === 'error' ? 'bad' : 'plain', `console: ${event.data.text}`, event.data, true);
        return;
      case 'PageErrorLogged':
        note('bad', `the page: ${event.data.text}`, {}, true);
        return;
      case 'DialogOpened':
        note('plain', `${event.data.kind}: ${event.data.message}`);
        return;
      case 'DownloadFinished':
        note('plain', `downloaded ${event.data.name}, ${event.data.bytes} bytes`);
        return;
      case 'BrowserLost':
        note(
          'bad',
          `the browser${event.data.session === undefined ? '' : ` of ${event.data.session}`} was lost: ${event.data.reason}`,
        );
        return;
      case 'VideoFailed':
        note('warn', `the video ended early: ${event.data.reason}`);
        return;
      case 'NodeDraining':
        note('warn', `the node ${event.data.node} is draining: end the session soon`);
        return;
      case 'SessionStarted':
        this.#starts.push(at);
        note('plain', `${event.data.browser}, ${event.data.driver} driver`);
        return;
      case 'SessionRestarted':
        if (event.data.attempt === 0) this.#driver = null;
        note(
          'warn',
          event.data.pageLost
            ? 'restarted; its page did not answer and was closed'
            : 'restarted; its page is as it was, its scripts are lost',
        );
        return;
      case 'AttemptFailed': {
        this.#driver = null;
        this.#attempt = event.data.attempt + 1;
        this.#before = this.#steps;
        const { attempt, error } = event.data;
        const text = `Attempt ${attempt} failed; retrying`;
        this.#lines.push({ key, kind: 'note', at, depth: 0, tone: 'warn', text, cause: error.error, place: null });
        return;
      }
      case 'SessionEnded': {
        this.#driver = null;
        const { status, error, summary, endReason } = event.data;
        const tone = status === 'failed' ? 'bad' : status === 'completed' ? 'good' : 'plain';
        const cause = error?.error ?? summary ?? endReason ?? '';
        this.#lines.push({ key, kind: 'note', at, depth: 0, tone, text: 'ended', cause, place: null });
        return;
      }
      case 'ModelStarted': {
        const { model, system, task, page } = event.data;
        const text = [task, page?.text, system].filter(Boolean).join('\n\n');
        this.#lines.push({ key, kind: 'text', at, depth: 0, tone: 'plain', title: `Instructions for ${model}`, text });
        return;
      }
      case 'ModelCallStarted': {
        const { call, attempt, model } = event.data;
        this.#lines.push({ key, kind: 'turn', at, depth: 0, call, attempt, model, text: '', done: null });
        return;
      }
      case 'ModelTextReceived':
        this.#replaceTurn(event.data.call, (turn) => ({ ...turn, text: turn.text + event.data.text }));
        return;
      case 'ModelCallFinished':
        this.#replaceTurn(event.data.call, (turn) => ({ ...turn, text: event.data.text, done: event.data }));
        return;
      case 'ToolAnswered': {
        const { tool, ok, text, page } = event.data;
        const said = [text, page?.text].filter(Boolean).join('\n\n');
        if (said === '' || tool === 'done') return;
        const tone = ok ? 'plain' : 'bad';
        this.#lines.push({ key, kind: 'text', at, depth: 1, tone, title: 'Response to the model', text: said });
        return;
      }
      case 'FlowDeviated':
        this.#lines.push({ key, kind: 'deviation', at, depth: 0, deviation: event.data });
        return;
      case 'FlowHealed':
        note('warn', `a repaired flow is proposed: healed-flows/${event.data.flow}.js`);
        return;
      case 'ModelNudged':
        this.#lines.push({
          key,
          kind: 'text',
          at,
          depth: 1,
          tone: 'warn',
          title: 'Message to the model',
          text: event.data.text,
        });
        return;
      case 'ControlTaken':
        this.#driver = event.data.by;
        note('warn', `control taken, from ${event.data.by}`);
        return;
      case 'ControlReturned':
        this.#driver = null;
        note('warn', CONTROL_ENDS[event.data.reason]);
        return;
      case 'HandoffRequested':
        note('warn', `waiting for a person: ${event.data.text}`);
        return;
      case 'HandoffEnded':
        note(event.data.outcome === 'done' ? 'good' : 'warn', handoffEnd(event.data));
        return;
      case 'StateCollected':
        note('good', `saves the login state ${event.data.name}`);
        return;
      case 'SessionAccepted':
      case 'ScreenshotTaken':
      case 'BrowserRequested':
        return;
      default:
        // A newer service may send events that this page does not know.
        return;
    }
  }

  /** A step is reported late, after its picture: it is inserted where it began. */
  #addStep(key: string, at: string, step: EventData<'StepFinished'>): void {
    const began = step.startedAt ?? at;
    let index = this.#lines.length;
    while (index > 0 && (this.#lines[index - 1]?.at ?? '') > began) index -= 1;
    const depth = this.#depthOf(step.flow, index, 1);
    this.#steps = Math.max(this.#steps, step.index);
    const numbered = { ...step, number: step.index - this.#before, attempt: this.#attempt };
    this.#lines.splice(index, 0, { key, kind: 'step', at: began, depth, step: numbered });
  }

  /** The indentation of lines in a flow's run that began before the line at `index`. */
  #depthOf(flow: string | undefined, index = this.#lines.length, otherwise = 0): number {
    if (flow === undefined) return otherwise;
    for (let at = index - 1; at >= 0; at -= 1) {
      const line = this.#lines[at];
      if (line?.kind === 'flow' && line.path === flow) return line.depth + 1;
    }
    return 1;
  }

  #finishScript({ script, durationMs, result, error }: EventData<'ScriptFinished'>): void {
    this.#replace(
      (line): line is ScriptLine => line.kind === 'script' && line.key === `script ${script}`,
      (line) => ({ ...line, done: { ms: durationMs, ...given({ result }), ...outcome(error) } }),
    );
  }

  #finishFlow({ path, depth, status, durationMs, error }: EventData<'FlowFinished'>): void {
    this.#replace(
      (line): line is FlowLine =>
        line.kind === 'flow' && line.done === null && line.path === path && line.depth === depth - 1,
      (line) => ({
        ...line,
        done: { ms: durationMs, passed: status !== 'failed', skipped: status === 'skipped', ...outcome(error) },
      }),
    );
  }

  #replaceTurn(call: number, next: (turn: TurnLine) => TurnLine): void {
    this.#replace((line): line is TurnLine => line.kind === 'turn' && line.call === call && line.done === null, next);
  }

  /** Replaces the newest line of that kind. */
  #replace<L extends Line>(is: (line: Line) => line is L, next: (line: L) => L): void {
    const index = this.#lines.findLastIndex(is);
    const line = this.#lines[index];
    if (line !== undefined && is(line)) this.#lines[index] = next(line);
  }
}

function given({ result }: { readonly result?: unknown }): { readonly result?: unknown } {
  return result === undefined ? {} : { result };
}

function outcome(error: Failure | undefined): { readonly error?: Failure } {
  return error === undefined ? {} : { error };
}
