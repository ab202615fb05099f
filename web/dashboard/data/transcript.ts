import type { EventData, JournalEvent, Step } from '../../../src/protocol/events.js';

/** One line of a session's transcript. `key` is unique and stays. */
export type Line =
  | { readonly key: string; readonly kind: 'step'; readonly at: string; readonly step: Step }
  | {
      readonly key: string;
      readonly kind: 'script';
      readonly at: string;
      readonly js: string;
      readonly by: string;
      readonly done: { readonly ms: number; readonly result?: unknown; readonly error?: Failure } | null;
    }
  | {
      readonly key: string;
      readonly kind: 'flow';
      readonly at: string;
      readonly path: string;
      readonly depth: number;
      readonly done: { readonly ms: number; readonly passed: boolean; readonly error?: Failure } | null;
    }
  | { readonly key: string; readonly kind: 'note'; readonly at: string; readonly tone: Tone; readonly text: string };

/** An error as events carry it. */
type Failure = NonNullable<Step['error']>;

export type Tone = 'plain' | 'good' | 'bad';

/** The transcript as the events tell it, in their order. Pure but for `lines`, which it adds to and completes. */
export function addToTranscript(lines: Line[], events: readonly JournalEvent[]): void {
  for (const event of events) add(lines, event);
}

function add(lines: Line[], event: JournalEvent): void {
  const { at, seq } = event;
  const key = String(seq);
  const note = (tone: Tone, text: string) => lines.push({ key, kind: 'note', at, tone, text });
  switch (event.type) {
    case 'StepFinished':
      lines.push({ key, kind: 'step', at, step: event.data });
      return;
    case 'ScriptStarted':
      lines.push({
        key: `script ${event.data.script}`,
        kind: 'script',
        at,
        js: event.data.js,
        by: event.data.kind,
        done: null,
      });
      return;
    case 'ScriptFinished':
      finishScript(lines, event.data);
      return;
    case 'FlowStarted':
      lines.push({ key, kind: 'flow', at, path: event.data.path, depth: event.data.depth, done: null });
      return;
    case 'FlowFinished':
      finishFlow(lines, event.data);
      return;
    case 'AssertionChecked': {
      const { ok, message, failures = [] } = event.data;
      const failed = failures.map(({ path, message: what }) => `${path}: ${what}`).join('; ');
      note(ok ? 'good' : 'bad', ok ? `match passed${message ? `: ${message}` : ''}` : `match failed: ${failed}`);
      return;
    }
    case 'ConsoleWritten':
      note(event.data.level === 'error' ? 'bad' : 'plain', `console: ${event.data.text}`);
      return;
    case 'PageErrorLogged':
      note('bad', `the page: ${event.data.text}`);
      return;
    case 'DialogOpened':
      note('plain', `${event.data.kind}: ${event.data.message}`);
      return;
    case 'DownloadFinished':
      note('plain', `downloaded ${event.data.name}, ${event.data.bytes} bytes`);
      return;
    case 'BrowserLost':
      note('bad', `the browser is gone: ${event.data.reason}`);
      return;
    case 'SessionStarted':
      note('plain', `${event.data.browser}, ${event.data.driver} driver`);
      return;
    case 'SessionRestarted':
      note(
        'bad',
        event.data.pageLost ? 'restarted; its page did not answer and was closed' : 'restarted; its page is as it was',
      );
      return;
    case 'SessionEnded': {
      const { status, error, summary, endReason } = event.data;
      note(
        status === 'failed' ? 'bad' : 'good',
        [status, error?.error ?? summary ?? endReason].filter(Boolean).join(': '),
      );
      return;
    }
    case 'SessionAccepted':
    case 'ScreenshotTaken':
      return;
    default:
      // A service that is newer than this page may tell of things that it does not know.
      return;
  }
}

function finishScript(lines: Line[], { script, durationMs, result, error }: EventData<'ScriptFinished'>): void {
  const index = lines.findLastIndex(({ key }) => key === `script ${script}`);
  const line = lines[index];
  if (line?.kind !== 'script') return;
  const done = {
    ms: durationMs,
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error }),
  };
  lines[index] = { ...line, done };
}

function finishFlow(lines: Line[], { path, depth, status, durationMs, error }: EventData<'FlowFinished'>): void {
  const index = lines.findLastIndex(
    (line) => line.kind === 'flow' && line.done === null && line.path === path && line.depth === depth,
  );
  const line = lines[index];
  if (line?.kind !== 'flow') return;
  const done = { ms: durationMs, passed: status === 'passed', ...(error === undefined ? {} : { error }) };
  lines[index] = { ...line, done };
}
