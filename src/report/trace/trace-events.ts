import { createHash } from 'node:crypto';
import { counted } from '../../protocol/counted.js';
import type { EventData, JournalEvent, Step } from '../../protocol/events.js';
import type { SessionRecord } from '../../protocol/session.js';
import type { TraceLine } from '../../protocol/trace/trace.js';
import { type Groups, groupAt, TraceGroups } from './trace-groups.js';

/**
 * The version of the format of playwright-core's trace viewer that this writes. Later viewers read it too. What it does
 * not have yet, the `screenshot` events of version 10, viewers of that version take from it and older ones ignore.
 */
const VERSION = 8;
/** The steps of a trace: the newest. */
const MAX_STEPS = 5_000;
/** Longer results are cut, in characters of JSON. */
const MAX_RESULT = 4_096;
const MAX_TITLE = 300;
const MAX_STDIO = 2_000;
/** The viewer shows pictures by the page that they are of. */
export const PAGE_ID = 'page@1';

/** The size of a picture, in pixels. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** A line of `trace.trace`. */
type Line = { readonly type: string; readonly [member: string]: unknown };

type Stdio = EventData<'ConsoleWritten'> & { readonly at: string };

/** Makes the events of a session into those of a trace. All of them were redacted before they came here. */
export class TraceEvents {
  readonly #record: SessionRecord;
  readonly #startedAt: number;
  readonly #groups: TraceGroups;
  #steps: (Step & { readonly from: number; readonly to: number })[] = [];
  #allSteps = 0;
  #stdio: Stdio[] = [];
  #notes: { readonly at: number; readonly text: string }[] = [];
  /** By the name that the steps' lines refer to. */
  readonly #sources = new Map<string, string>();

  constructor(record: SessionRecord) {
    this.#record = record;
    this.#startedAt = Date.parse(record.startedAt ?? record.createdAt);
    this.#groups = new TraceGroups((at) => this.timeOf(at));
  }

  /** Milliseconds since the session's start, which is the zero of the trace. */
  timeOf(at: string | number): number {
    return (typeof at === 'number' ? at : Date.parse(at)) - this.#startedAt;
  }

  add(event: JournalEvent): void {
    switch (event.type) {
      case 'StepFinished':
        this.#addStep(event.data, event.at);
        return;
      case 'ScriptStarted':
        this.#sources.set(`script-${event.data.script}.js`, event.data.js);
        break;
      case 'ConsoleWritten':
        this.#stdio.push({ ...event.data, at: event.at });
        if (this.#stdio.length > MAX_STDIO) this.#stdio.shift();
        return;
      default:
    }
    this.#groups.add(event);
  }

  #addStep(step: Step, at: string): void {
    this.#allSteps += 1;
    const from = step.startedAt === undefined ? this.timeOf(at) - step.durationMs : this.timeOf(step.startedAt);
    this.#steps.push({ ...step, result: shortened(step.result), from, to: from + step.durationMs });
    if (this.#steps.length > 2 * MAX_STEPS) this.#steps = this.#steps.slice(-MAX_STEPS);
  }

  /** Says in the trace that something is not in it. */
  note(text: string, at = Number.NaN): void {
    this.#notes.push({ at: Number.isNaN(at) ? this.#end() : at, text });
  }

  /** Names of the pictures of all steps, in their order, each once. */
  get pictures(): readonly string[] {
    return [...new Set(this.#shownSteps().flatMap(({ screenshot }) => screenshot ?? []))];
  }

  addSource(flow: string, text: string): void {
    this.#sources.set(flowFile(flow), text);
  }

  /** The sources that steps and groups refer to, by the names under which the viewer looks for them. */
  get sources(): ReadonlyMap<string, string> {
    return new Map([...this.#sources].map(([name, text]) => [`src@${sha1(name)}.txt`, text]));
  }

  /** The content of `trace.trace`. @param sizes of the pictures that the trace has */
  *lines(logged: readonly TraceLine[], sizes: ReadonlyMap<string, PictureSize>): Generator<string> {
    const steps = this.#shownSteps();
    if (steps.length < this.#allSteps) {
      this.note(
        `Not in the trace: the first ${counted(this.#allSteps - steps.length, 'step')} (limit: ${MAX_STEPS})`,
        0,
      );
    }
    for (const line of [
      this.#context(sizes),
      ...this.#groups.all(steps).flatMap((group) => groupLines(group)),
      ...this.#stepLines(steps, sizes),
      ...this.#stdio.map((line) => this.#stdioLine(line)),
      ...logged.flatMap((line) => this.#logLine(line) ?? []),
      ...this.#notes.map(({ at, text }) =>
        consoleLine(at, 'warning', `Trace: ${text}`, { url: '', line: 0, column: 0 }),
      ),
    ]) {
      yield `${JSON.stringify(line)}\n`;
    }
  }

  #shownSteps() {
    return this.#steps.slice(-MAX_STEPS).sort((one, other) => one.from - other.from);
  }

  #end(): number {
    return this.#steps.reduce((latest, { to }) => Math.max(latest, to), 0);
  }

  #context(sizes: ReadonlyMap<string, PictureSize>): Line {
    const { name, flowFiles, prompt, id } = this.#record;
    const [viewport] = sizes.values();
    return {
      type: 'context-options',
      version: VERSION,
      origin: 'library',
      browserName: 'chromium',
      platform: process.platform,
      wallTime: this.#startedAt,
      monotonicTime: 0,
      sdkLanguage: 'javascript',
      title: (name ?? (flowFiles.join(', ') || (prompt ?? id))).slice(0, MAX_TITLE),
      contextId: id,
      options: viewport === undefined ? {} : { viewport },
    };
  }

  *#stepLines(
    steps: readonly (Step & { readonly from: number; readonly to: number })[],
    sizes: ReadonlyMap<string, PictureSize>,
  ): Generator<Line> {
    const groups = this.#groups.all(steps);
    let shown: string | null = null;
    for (const [number, step] of steps.entries()) {
      const callId = `step@${number + 1}`;
      const group = groupAt(groups, step);
      const file = step.flow === undefined ? (group?.file ?? null) : flowFile(step.flow);
      yield {
        type: 'before',
        callId,
        stepId: callId,
        startTime: step.from,
        title: step.js.slice(0, MAX_TITLE),
        class: 'Troupe',
        method: 'step',
        // The viewer puts members into a title's {name}: these are no names of roles.
        params: { 'page address': step.url, 'page title': step.title },
        pageId: PAGE_ID,
        ...(group === null ? {} : { parentId: group.callId }),
        ...(file === null || step.line === undefined
          ? {}
          : { stack: [{ file, line: step.line, column: step.column ?? 1, function: '' }] }),
      };
      const own = step.screenshot;
      yield* pictureLines(callId, 'before', step.from, shown, sizes);
      yield* pictureLines(callId, 'after', step.to, own, sizes);
      if (own !== null && own !== shown) yield* frameLines(step.to, own, sizes);
      shown = own ?? shown;
      const { error } = step;
      yield {
        type: 'after',
        callId,
        endTime: step.to,
        ...(error === undefined ? {} : { error: { name: error.code, message: `${error.code}: ${error.error}` } }),
        ...(step.result === undefined ? {} : { result: { value: step.result } }),
      };
    }
  }

  #stdioLine({ at, level, text }: Stdio): Line {
    const type = level === 'warn' || level === 'error' ? 'stderr' : 'stdout';
    return { type, timestamp: this.timeOf(at), text: `${text}\n` };
  }

  #logLine(line: TraceLine): Line | null {
    switch (line.kind) {
      case 'console':
        return consoleLine(this.timeOf(line.at), line.level, line.text, line);
      case 'error':
        return {
          type: 'event',
          time: this.timeOf(line.at),
          class: 'BrowserContext',
          method: 'pageError',
          params: {
            error: { error: { name: 'Error', message: line.text, stack: line.text } },
            location: { url: line.url, line: 0, column: 0 },
          },
          pageId: PAGE_ID,
        };
      case 'dropped':
        return consoleLine(this.timeOf(line.at), 'warning', `Trace: ${line.text}`, { url: '', line: 0, column: 0 });
      default:
        return null;
    }
  }
}

function groupLines({ callId, parentId, title, from, to, error, file }: Groups[number]): Line[] {
  return [
    {
      type: 'before',
      callId,
      stepId: callId,
      startTime: from,
      title: title.slice(0, MAX_TITLE),
      class: 'Tracing',
      method: 'tracingGroup',
      params: {},
      ...(parentId === null ? {} : { parentId }),
      ...(file === null ? {} : { stack: [{ file, line: 1, column: 1, function: '' }] }),
    },
    {
      type: 'after',
      callId,
      endTime: to,
      ...(error === null ? {} : { error: { name: error.code, message: `${error.code}: ${error.error}` } }),
    },
  ];
}

function* pictureLines(
  callId: string,
  phase: 'before' | 'after',
  timestamp: number,
  picture: string | null,
  sizes: ReadonlyMap<string, PictureSize>,
): Generator<Line> {
  if (picture === null || !sizes.has(picture)) return;
  yield { type: 'screenshot', callId, phase, pageId: PAGE_ID, timestamp, file: `resources/${picture}` };
}

/** Frames of the strip above the steps in the viewer. */
function* frameLines(timestamp: number, picture: string, sizes: ReadonlyMap<string, PictureSize>): Generator<Line> {
  const size = sizes.get(picture);
  if (size !== undefined) yield { type: 'screencast-frame', pageId: PAGE_ID, sha1: picture, ...size, timestamp };
}

function consoleLine(
  time: number,
  level: string,
  text: string,
  { url, line, column }: { readonly url: string; readonly line: number; readonly column: number },
): Line {
  const location = { url, lineNumber: Math.max(0, line - 1), columnNumber: Math.max(0, column - 1) };
  return { type: 'console', messageType: level, text, args: [], location, time, pageId: PAGE_ID };
}

function shortened(result: unknown): unknown {
  const text = JSON.stringify(result);
  return text === undefined || text.length <= MAX_RESULT ? result : `${text.slice(0, MAX_RESULT)}…`;
}

/** How the trace calls a flow's file. */
export function flowFile(flow: string): string {
  return `flows/${flow}.js`;
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}
