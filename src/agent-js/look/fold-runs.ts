/** A line of text about one element, or a heading between them. */
export interface Line {
  readonly text: string;
  /** Lines of one kind may be counted in place of being shown; '' for what is always shown. */
  readonly kind: string;
  /** The element that it is about, or that follows it. */
  readonly index: number;
}

/** Lines in a repeated block; a table's row of controls. */
const MAX_PERIOD = 12;
/** Fewer repetitions are easier read as they are. */
const MIN_REPEATS = 4;

/** A line taken apart: odd parts are numbers. */
interface Parsed {
  readonly parts: readonly string[];
  readonly shape: string;
}

/** The longest repetition that begins at a line: `period` lines, `count` times. */
interface Repetition {
  readonly period: number;
  readonly count: number;
}

/**
 * Folds what repeats, without loss: lines that differ only by numbers which count up together become one, with ranges
 * in the numbers' places. A repeated block of lines has a line before it that says how often. Of longer runs of the
 * same kinds whose texts have nothing in common, `maxRun` lines are the most that is shown.
 *
 * @param more the line that stands for those left out: elements `from` to before `to`
 */
export function foldRuns(
  lines: readonly Line[],
  maxRun: number,
  more: (count: number, kinds: readonly string[], from: number, to: number) => string,
): Line[] {
  const parsed = lines.map(({ text }) => parse(text));
  const folded: Line[] = [];
  let at = 0;
  while (at < lines.length) {
    const { period, count } = bestRepetition(parsed, at);
    if (count >= MIN_REPEATS) {
      const index = lines[at]?.index ?? 0;
      const inset = period > 1 ? '  ' : '';
      if (period > 1) folded.push({ text: `${count} times, counting up together:`, kind: '', index });
      for (let line = 0; line < period; line++) {
        folded.push({ text: inset + ranged(parsed, at + line, period, count), kind: '', index });
      }
      at += period * count;
      continue;
    }
    const line = lines[at];
    if (line !== undefined) folded.push(line);
    at++;
  }
  return shorten(folded, maxRun, more);
}

function parse(text: string): Parsed {
  // A number with leading zeros does not count up as one without.
  const parts = text.split(/((?<!\d)(?:0|[1-9]\d{0,8})(?!\d))/);
  return { parts, shape: parts.filter((_, index) => index % 2 === 0).join('\u0000') };
}

function bestRepetition(parsed: readonly Parsed[], at: number): Repetition {
  let best: Repetition = { period: 1, count: 1 };
  for (let period = 1; period <= MAX_PERIOD && at + period < parsed.length; period++) {
    const count = repetitions(parsed, at, period);
    if (count >= MIN_REPEATS && period * (count - 1) > best.period * (best.count - 1)) best = { period, count };
  }
  return best;
}

function repetitions(parsed: readonly Parsed[], at: number, period: number): number {
  let count = 1;
  while (blockFollows(parsed, at, period, count)) count++;
  return count;
}

/** Whether the block `nth` after the first is the first with its counting numbers raised by `nth`. */
function blockFollows(parsed: readonly Parsed[], at: number, period: number, nth: number): boolean {
  for (let line = 0; line < period; line++) {
    const first = parsed[at + line];
    const second = parsed[at + line + period];
    const own = parsed[at + line + period * nth];
    if (first === undefined || second === undefined || own === undefined) return false;
    if (first.shape !== own.shape || first.shape !== second.shape) return false;
    let counts = false;
    for (let part = 1; part < first.parts.length; part += 2) {
      const start = Number(first.parts[part]);
      const step = Number(second.parts[part]) - start;
      if (step !== 0 && step !== 1) return false;
      if (Number(own.parts[part]) !== start + step * nth) return false;
      counts ||= step === 1;
    }
    if (!counts) return false;
  }
  return true;
}

function ranged(parsed: readonly Parsed[], at: number, period: number, count: number): string {
  const first = parsed[at]?.parts ?? [];
  const last = parsed[at + period * (count - 1)]?.parts ?? [];
  return first.map((part, index) => (part === last[index] ? part : `${part}..${last[index]}`)).join('');
}

/** Replaces the later part of each long run of lines of the same few kinds. */
function shorten(
  lines: readonly Line[],
  maxRun: number,
  more: (count: number, kinds: readonly string[], from: number, to: number) => string,
): Line[] {
  const shown: Line[] = [];
  let at = 0;
  while (at < lines.length) {
    const end = runEnd(lines, at);
    const shownEnd = end - at > maxRun ? at + Math.ceil(maxRun / 2) : end;
    shown.push(...lines.slice(at, shownEnd));
    const next = lines[shownEnd];
    if (shownEnd < end && next !== undefined) {
      const kinds = [...new Set(lines.slice(shownEnd, end).map(({ kind }) => kind))];
      const to = (lines[end - 1]?.index ?? next.index) + 1;
      shown.push({ text: more(end - shownEnd, kinds, next.index, to), kind: '', index: next.index });
    }
    at = end;
  }
  return shown;
}

/** Where the run that begins at a line ends: lines whose kinds repeat with some period. */
function runEnd(lines: readonly Line[], at: number): number {
  let end = at + 1;
  for (let period = 1; period <= MAX_PERIOD; period++) {
    let reach = at;
    while (reach < lines.length && lines[reach]?.kind !== '') {
      if (reach >= at + period && lines[reach]?.kind !== lines[reach - period]?.kind) break;
      reach++;
    }
    if (reach >= at + period * MIN_REPEATS && reach > end) end = reach;
  }
  return end;
}
