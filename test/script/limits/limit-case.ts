/** A script that meets a limit. */
export interface LimitCase {
  readonly title: string;
  readonly source: string;
  /** Any of these. */
  readonly meets: Limit | readonly Limit[];
}

/**
 * How it ends: its memory is used up, its time is over, it recurses too deeply, the language refuses it for another
 * reason, or it has a value.
 */
export type Limit = 'memory' | 'time' | 'recursion' | 'refusal' | 'value';

export const memory = (title: string, source: string): LimitCase => ({ title, source, meets: 'memory' });
export const time = (title: string, source: string): LimitCase => ({ title, source, meets: 'time' });
export const refusal = (title: string, source: string): LimitCase => ({ title, source, meets: 'refusal' });
export const recursion = (title: string, source: string): LimitCase => ({ title, source, meets: 'recursion' });
