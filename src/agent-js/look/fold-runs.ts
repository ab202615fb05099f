/** A line of text about one element, or a heading between them. */
export interface Line {
  readonly text: string;
  /** Lines of one kind may be counted in place of being shown; '' for what is always shown. */
  readonly kind: string;
  /** The element that it is about, or that follows it. */
  readonly index: number;
  /** The rest of the text if the kind's role is written elsewhere; null: it must be written here. */
  readonly named: string | null;
}

/** Lines in a repeated block; a table's row of controls. */
const MAX_PERIOD = 12;
/** Fewer repetitions are easier read as they are. */
const MIN_REPEATS = 4;
/** From so many rows on, the roles of a run are written once, before it. */
const MIN_ROWS = 10;
/** Between the names of a row. */
const BETWEEN = ' | ';

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

/** Lines whose kinds repeat with a period, up to `end`. */
interface Run {
  readonly period: number;
  readonly end: number;
}

/**
 * Folds what repeats, without loss: lines that differ only by numbers which count up together become one, with ranges
 * in the numbers' places. A repeated block of lines has a line before it that says how often. Long runs of the same kinds
 * whose texts have nothing in common have their roles told once, then a line for each row. Of still longer ones half of
 * `maxRun` lines are shown.
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
      if (period > 1) folded.push({ text: `${count} times, counting up together:`, ...plain(index) });
      for (let line = 0; line < period; line++) {
        folded.push({ text: inset + ranged(parsed, at + line, period, count), ...plain(index) });
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

/** What is no line of one element. */
function plain(index: number): Omit<Line, 'text'> {
  return { kind: '', index, named: null };
}

/** Replaces the later part of each long run of lines of the same few kinds, and tells the roles of the rest once. */
function shorten(
  lines: readonly Line[],
  maxRun: number,
  more: (count: number, kinds: readonly string[], from: number, to: number) => string,
): Line[] {
  const shown: Line[] = [];
  let at = 0;
  while (at < lines.length) {
    const { end, period } = runAt(lines, at);
    const half = Math.ceil(maxRun / 2 / period) * period;
    const shownEnd = end - at > maxRun ? at + half : end;
    shown.push(...inRows(lines.slice(at, shownEnd), period));
    const next = lines[shownEnd];
    if (shownEnd < end && next !== undefined) {
      const kinds = [...new Set(lines.slice(shownEnd, end).map(({ kind }) => kind))];
      const to = (lines[end - 1]?.index ?? next.index) + 1;
      shown.push({ text: more(end - shownEnd, kinds, next.index, to), ...plain(next.index) });
    }
    at = end;
  }
  return shown;
}

/** The run that begins at a line. */
function runAt(lines: readonly Line[], at: number): Run {
  let run: Run = { period: 1, end: at + 1 };
  for (let period = 1; period <= MAX_PERIOD; period++) {
    let reach = at;
    while (reach < lines.length && lines[reach]?.kind !== '') {
      if (reach >= at + period && lines[reach]?.kind !== lines[reach - period]?.kind) break;
      reach++;
    }
    if (reach >= at + period * MIN_REPEATS && reach > run.end) run = { period, end: reach };
  }
  return run;
}

/**
 * The rows of a run under a line with their roles; as it is where they are few, most are more than a
 * name, or they could be taken for something else.
 */
function inRows(run: readonly Line[], period: number): readonly Line[] {
  const rows = Math.floor(run.length / period);
  const whole = run.slice(0, rows * period);
  const bare = whole.filter(({ named }) => named !== null).length;
  if (bare * 2 < whole.length) return run;
  const tellable = period === 1 || whole.every(({ named, text }) => !(named ?? text).includes(BETWEEN));
  if (rows < MIN_ROWS || !tellable) return run;
  const roles = whole.slice(0, period).map(({ kind }) => `{${roleOf(kind)}}`);
  const what = period === 1 ? `${rows} of ${roles[0]}` : `${rows} rows of ${roles.join(BETWEEN)}`;
  const shown: Line[] = [{ text: `${what}, by name:`, ...plain(whole[0]?.index ?? 0) }];
  for (let at = 0; at < whole.length; at += period) {
    const row = whole.slice(at, at + period);
    shown.push({ text: row.map(({ named, text }) => named ?? text).join(BETWEEN), ...plain(row[0]?.index ?? 0) });
  }
  return [...shown, ...run.slice(rows * period)];
}

/** The role that lines of a kind have; a kind begins with it. */
export function roleOf(kind: string): string {
  return kind.split(' ', 1)[0] ?? '';
}
