import type { EventData, JournalEvent, Step } from '../../protocol/events.js';

/** Flows and scripts of a trace at most. */
const MAX_GROUPS = 2_000;
const MAX_SCRIPT_TITLE = 100;

type FlowError = NonNullable<EventData<'FlowFinished'>['error']>;

interface Group {
  readonly callId: string;
  readonly parentId: string | null;
  readonly title: string;
  /** The source that it runs, as the trace calls it. */
  readonly file: string;
  /** Of a flow: its path. */
  readonly path: string | null;
  readonly from: number;
  to: number | null;
  error: FlowError | null;
}

/** Flows and scripts with their times, outer ones before inner ones. */
export type Groups = readonly (Omit<Group, 'to'> & { readonly to: number })[];

/** The flows and scripts of a session, in which the trace shows its steps. */
export class TraceGroups {
  readonly #timeOf: (at: string) => number;
  readonly #groups: Group[] = [];
  /** Those that have not ended, outermost first. */
  #open: Group[] = [];
  #latest = 0;

  /** @param timeOf turns an event's instant into the trace's time */
  constructor(timeOf: (at: string) => number) {
    this.#timeOf = timeOf;
  }

  add(event: JournalEvent): void {
    this.#latest = Math.max(this.#latest, this.#timeOf(event.at));
    switch (event.type) {
      case 'FlowStarted': {
        const { path, resumed } = event.data;
        this.#begin(event.at, path, { title: resumed ? `${path} (continued)` : path, file: `flows/${path}.js` });
        return;
      }
      case 'FlowFinished':
        this.#end(event.at, (group) => group.path === event.data.path, event.data.error);
        return;
      case 'ScriptStarted': {
        const { script, js } = event.data;
        const [line = ''] = js.trim().split('\n');
        const title = `script ${script}: ${line.slice(0, MAX_SCRIPT_TITLE)}`;
        this.#begin(event.at, null, { title, file: `script-${script}.js` });
        return;
      }
      case 'ScriptFinished':
        this.#end(event.at, (group) => group.file === `script-${event.data.script}.js`, event.data.error);
        return;
      case 'SessionStarted':
      case 'SessionRestarted':
      case 'AttemptFailed':
      case 'SessionEnded':
        this.#cut(event.at);
        return;
      case 'BrowserLost':
        if (event.data.session === undefined) this.#cut(event.at);
        return;
      default:
    }
  }

  /** No script outlives its session's browser or its thread. */
  #cut(at: string): void {
    for (const group of this.#open) group.to = this.#timeOf(at);
    this.#open = [];
  }

  /** @param steps one that failed tells its error; the groups around it need not */
  all(steps: readonly Step[]): Groups {
    const told = new Set(steps.flatMap(({ error }) => error?.error ?? []));
    return this.#groups.map((group) => ({
      ...group,
      to: group.to ?? this.#latest,
      error: group.error !== null && told.has(causeOf(group.error)) ? null : group.error,
    }));
  }

  #begin(at: string, path: string | null, { title, file }: Pick<Group, 'title' | 'file'>): void {
    if (this.#groups.length >= MAX_GROUPS) return;
    const callId = `group@${this.#groups.length + 1}`;
    const parentId = this.#open.at(-1)?.callId ?? null;
    const group = { callId, parentId, title, file, path, from: this.#timeOf(at), to: null, error: null };
    this.#groups.push(group);
    this.#open.push(group);
  }

  /** Ends the innermost group that matches, and those in it. */
  #end(at: string, isIt: (group: Group) => boolean, error: FlowError | undefined): void {
    const index = this.#open.findLastIndex(isIt);
    if (index === -1) return;
    for (const group of this.#open.splice(index)) group.to = this.#timeOf(at);
    const ended = this.#groups.findLast((group) => isIt(group));
    if (ended !== undefined) ended.error = error ?? null;
  }
}

/** The innermost group in which a step began. */
export function groupAt(groups: Groups, step: Step & { readonly from: number }): Groups[number] | null {
  const within = groups.filter(({ from, to }) => from <= step.from && step.from <= to);
  const own = step.flow === undefined ? undefined : within.findLast(({ path }) => path === step.flow);
  return own ?? within.at(-1) ?? null;
}

/** A flow's error begins with the flow's name. */
function causeOf({ error, details }: FlowError): string {
  const cause = details?.cause;
  return typeof cause === 'object' && cause !== null && 'error' in cause ? String(cause.error) : error;
}
