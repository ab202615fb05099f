import { append } from './primordials.js';

/**
 * What a script fails with at its end: calls that it still has to make, since it began an assertion that checks nothing
 * until its matcher is called; and the reasons of rejected promises that it dropped.
 */
export interface OwedCalls {
  /** Grows with each one. */
  readonly last: () => number;
  /** Keeps the error until the returned function is called. */
  readonly owe: (error: unknown) => () => void;
  /** Forgets those after number `from`. Throws the error of the first that was not made. */
  readonly collect: (from: number) => void;
  /** Forgets those after number `from`. */
  readonly forget: (from: number) => void;
}

interface Owed {
  readonly number: number;
  readonly error: unknown;
  made: boolean;
}

export function makeOwedCalls(): OwedCalls {
  const list: Owed[] = [];
  let last = 0;

  /** Drops the ends of the list that nobody asks for, so that a loop of assertions does not grow it. */
  const drop = (isOver: (owed: Owed) => boolean): void => {
    for (let end = list[list.length - 1]; end !== undefined && isOver(end); end = list[list.length - 1]) {
      list.length -= 1;
    }
  };
  const isMade = ({ made }: Owed): boolean => made;
  const forget = (from: number): void => drop(({ number }) => number > from);

  return {
    last: () => last,
    owe: (error) => {
      last += 1;
      const owed: Owed = { number: last, error, made: false };
      append(list, owed);
      return () => {
        owed.made = true;
        drop(isMade);
      };
    },
    collect: (from) => {
      let first: Owed | null = null;
      for (let i = list.length - 1; i >= 0; i -= 1) {
        const owed = list[i];
        if (owed === undefined || owed.number <= from) break;
        if (!owed.made) first = owed;
      }
      forget(from);
      if (first !== null) throw first.error;
    },
    forget,
  };
}
