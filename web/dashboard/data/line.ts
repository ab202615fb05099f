import type { EventData, Step } from '../../../src/protocol/events.js';

/** An error as events carry it. */
export type Failure = NonNullable<Step['error']>;

export type Tone = 'plain' | 'good' | 'bad' | 'warn';

interface Common {
  /** Unique within the session; stays. */
  readonly key: string;
  /** When it began, ISO 8601. */
  readonly at: string;
  /** How far it stands to the right: what runs inside of something stands under it. */
  readonly depth: number;
}

export interface StepLine extends Common {
  readonly kind: 'step';
  readonly step: Step;
}

export interface ScriptLine extends Common {
  readonly kind: 'script';
  readonly js: string;
  readonly by: string;
  readonly done: { readonly ms: number; readonly result?: unknown; readonly error?: Failure } | null;
}

export interface FlowLine extends Common {
  readonly kind: 'flow';
  readonly path: string;
  readonly resumed: boolean;
  readonly done: { readonly ms: number; readonly passed: boolean; readonly error?: Failure } | null;
}

/** One try at one answer of a model. `text` grows while it comes. */
export interface TurnLine extends Common {
  readonly kind: 'turn';
  readonly call: number;
  readonly attempt: number;
  readonly model: string;
  readonly text: string;
  readonly done: Pick<
    EventData<'ModelCallFinished'>,
    'durationMs' | 'tokens' | 'toolCalls' | 'finish' | 'error' | 'retryInMs'
  > | null;
}

/** Longer text that is read when it is wanted: what the model was told. */
export interface TextLine extends Common {
  readonly kind: 'text';
  readonly title: string;
  readonly tone: Tone;
  readonly text: string;
}

export interface DeviationLine extends Common {
  readonly kind: 'deviation';
  readonly deviation: EventData<'FlowDeviated'>;
}

export interface NoteLine extends Common {
  readonly kind: 'note';
  readonly tone: Tone;
  readonly text: string;
  /** Where in the flows it was said: `buy:12`. */
  readonly place: string | null;
}

/** One line of a session's transcript. */
export type Line = StepLine | ScriptLine | FlowLine | TurnLine | TextLine | DeviationLine | NoteLine;

/** True for what a reader who looks for a failure wants to see. */
export function standsOut(line: Line): boolean {
  switch (line.kind) {
    case 'step':
      return line.step.error !== undefined;
    case 'script':
    case 'turn':
      return line.done?.error !== undefined;
    case 'flow':
      return line.done?.passed === false;
    case 'deviation':
      return true;
    case 'note':
    case 'text':
      return line.tone === 'bad' || line.tone === 'warn';
  }
}
