import type { EventData, Step } from '../../../src/protocol/events.js';

/** A step as people count it: each attempt from 1. `index` counts on over all attempts. */
export type NumberedStep = Step & { readonly number: number; readonly attempt: number };

/** An error as in events. */
export type Failure = NonNullable<Step['error']>;

export type Tone = 'plain' | 'good' | 'bad' | 'warn';

interface Common {
  /** Unique within the session; never changes. */
  readonly key: string;
  /** When it began, ISO 8601. */
  readonly at: string;
  /** The indentation: nested calls are shown below their caller. */
  readonly depth: number;
}

export interface StepLine extends Common {
  readonly kind: 'step';
  readonly step: NumberedStep;
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
  readonly done: {
    readonly ms: number;
    readonly passed: boolean;
    readonly skipped?: boolean;
    readonly error?: Failure;
  } | null;
}

/** One attempt at one model call. `text` grows while it arrives. */
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

/** Longer text that is read on demand: the messages to the model. */
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
  /** The error that it is about, shown unless a step has it already. */
  readonly cause?: string;
  /** Written to the console, or an error of a page. */
  readonly output?: boolean;
  /** The position in the flows: `buy:12`. */
  readonly place: string | null;
}

/** One line of a session's transcript. */
export type Line = StepLine | ScriptLine | FlowLine | TurnLine | TextLine | DeviationLine | NoteLine;

/** Whether it is output: of the console, or an error of a page. */
export function isOutput(line: Line): line is NoteLine {
  return line.kind === 'note' && line.output === true;
}

/** Whether somebody who looks for a failure wants to see it. */
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
