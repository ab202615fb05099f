import { ActionName } from '../../protocol/look.js';

const LEVELS = ['log', 'info', 'warn', 'error', 'debug'];

/** The types that calls take and return, in the order in which they are declared, without `export`. */
export function shapes(): string {
  const actions = ActionName.options.map((name) => `'${name}'`).join(' | ');
  return `/** What \`agent.act\` can do to an element. */
type Action = ${actions};
/** CSS pixels. */
type Point = readonly [x: number, y: number];
/** Where \`drag\` goes: so far, to an element or a point of it, or along points from the corner of what is dragged. */
type DragWay = { by: Point } | { to: string; x?: number; y?: number } | { path: readonly Point[] };
type ActValue = string | number | readonly string[] | Point | DragWay;
interface Timeout {
  /** Milliseconds. */
  timeout?: number;
}
interface ActOptions extends Timeout {
  /** CSS pixels from the left edge of the element, for the clicks and \`hover\`. */
  x?: number;
  /** CSS pixels from the top edge of the element. */
  y?: number;
}
/** What a call returned, without the values that count as false. */
type Truthy<T> = Exclude<T, false | 0 | '' | null | undefined>;
/** An alert, confirm, prompt, or beforeunload dialog. */
interface Dialog {
  kind: string;
  message: string;
}
interface Tab {
  index: number;
  url: string;
  title: string;
  /** Whether calls act on it. */
  active: boolean;
}
interface Acted {
  /** Whether anything on the page has changed. */
  changed: boolean;
  url: string;
  title: string;
  /** After \`input\`: what the field shows, if that is not the text; null if the page has removed the field. */
  value?: string | null;
  /** What has come of a drag; absent if that cannot be told. \`by\` is in CSS pixels. */
  drag?:
    | { outcome: 'moved' | 'copied' | 'removed' | 'dropped' }
    | { outcome: 'snapped'; by: [dx: number, dy: number] };
  /** A dialog that is open now. */
  dialog?: Dialog;
  /** The index of a tab that has opened, and is the active one now. */
  newTab?: number;
  /** A download that has begun. */
  download?: { name: string; url: string };
  /** The HTTP status of the page that has come. */
  status?: number;
}
/** A control of the page. Members that say nothing about it are absent. */
interface LookElement {
  /** The tag, or the ARIA role if the page sets one. */
  role: string;
  /** What a person calls it. */
  name: string;
  /** For \`agent.act\` and other calls. */
  locator: string;
  /** What it reacts to, the usual first. */
  actions: Action[];
  value?: string;
  checked?: boolean | 'mixed';
  disabled?: true;
  /** The options of a list. */
  options?: string[];
  href?: string;
  /** It must be scrolled to; \`agent.act\` does that. */
  offscreen?: true;
}
/** What every look has. */
interface LookedAt {
  url: string;
  title: string;
  /** A dialog that is open now. */
  dialog?: Dialog;
  /** What was still going on after the second for which a look waits. */
  unsettled?: string;
}
/** The first look, or one with \`full: true\`. */
interface FullLook extends LookedAt {
  /** All controls that a person can use now. */
  elements: LookElement[];
  diff?: undefined;
  document?: undefined;
  added?: undefined;
  removed?: undefined;
  changed?: undefined;
  unchanged?: undefined;
}
/** What is different since the look before. */
interface LookChanges extends LookedAt {
  diff: true;
  /** The page shows another document: \`added\` is the whole list, the other groups are empty. */
  document?: 'new';
  added: LookElement[];
  /** Locators. */
  removed: string[];
  /** Locators, and the members that have changed; null: it is gone. */
  changed: ElementChange[];
}
/** A later look. */
interface LaterLook extends LookChanges {
  /** All controls that a person can use now. */
  elements: LookElement[];
  /** Locators. */
  unchanged: string[];
  /** What a script returns of it: without \`elements\`, and the number of \`unchanged\`. */
  toJSON(): LookChanges & { unchanged: number; elements?: undefined };
}
type Look = FullLook | LaterLook;
interface ElementChange {
  locator: string;
  [member: string]: unknown;
}
interface PageRequest {
  method: string;
  url: string;
  /** null as long as there is no answer. */
  status: number | null;
  /** Such as 'document', 'fetch', 'xhr', 'script', or 'image'. */
  type: string;
  /** null as long as the answer has not ended. */
  durationMs: number | null;
  /** A value if it is JSON, otherwise text; up to 64 KiB. */
  requestBody?: any;
  /** A value if it is JSON, otherwise text; only in a session with \`"har": "bodies"\`. */
  body?: any;
  /** Why it failed. */
  error?: string;
}
interface MockAnswer {
  /** 200 by default. */
  status?: number;
  /** The body as a value, in place of \`body\`. */
  json?: unknown;
  body?: string;
  headers?: Record<string, string>;
  contentType?: string;
  /** Milliseconds, 60,000 at most. */
  delay?: number;
  /** The request fails; a text names Playwright's error code. */
  abort?: boolean | string;
}
/** How bad a barrier is. */
type Impact = 'minor' | 'moderate' | 'serious' | 'critical';
interface AuditOptions {
  /** CSS: only this part of the page. */
  within?: string;
  /** CSS, or a list: parts that are left out. */
  exclude?: string | readonly string[];
  /** Tags of rules, such as 'wcag2aa'. */
  tags?: string | readonly string[];
  /** The least impact that fails; 'serious' by default, 'none': nothing fails. */
  impact?: Impact | 'none';
}
/** A rule that the page breaks. */
interface Violation {
  /** As axe-core names it, such as 'image-alt'. */
  id: string;
  impact: Impact;
  help: string;
  /** Where the rule is explained. */
  url: string;
  /** How many elements break it. */
  count: number;
  /** The first 20 of them. */
  elements: { locator: string; html: string }[];
}
interface Audit {
  violations: Violation[];
  /** How many rules the page keeps. */
  passed: number;
  /** How many rules a person has to check. */
  undecided: number;
  /** How many frames there are, which are not audited. */
  frames: number;
}
interface Compared {
  /** The path of the baseline below \`flows/\`. */
  baseline: string;
  /** 'written' only if baselines are updated. */
  status: 'matched' | 'written';
}
/** The pages' time. A time is milliseconds since 1970, or a text that \`Date\` understands; ticks are milliseconds, 'ss', 'mm:ss', or 'hh:mm:ss'. */
interface AgentClock {
  /** Lets the time go on from this one. Call it before the page is opened, so that all of its timers follow. */
  install(options?: { time?: number | string | Date }): null;
  /** Jumps to a time and stands still there, timers too. */
  pauseAt(time: number | string | Date): null;
  /** Jumps ahead. Timers that were due are called once. */
  fastForward(ticks: number | string): null;
  /** Advances, and calls each timer whenever it is due. */
  runFor(ticks: number | string): null;
  /** Lets the time go on. */
  resume(): null;
  /** Makes it always this time. Timers run on. */
  setFixedTime(time: number | string | Date): null;
  /** Lets the time go on from this one, and calls no timer for it. */
  setSystemTime(time: number | string | Date): null;
}
/** The checks of an element or a page: each waits until it passes, or throws MATCH_FAILED after \`timeout\` milliseconds. */
interface Expectation {
  /** The visible text is this one. White space is folded. */
  toHaveText(text: string | number | RegExp, options?: Timeout): void;
  /** The visible text contains this one. White space is folded. */
  toContainText(text: string | number | RegExp, options?: Timeout): void;
  /** There is one such visible element. */
  toBeVisible(options?: Timeout): void;
  /** There is no such visible element. */
  toBeHidden(options?: Timeout): void;
  /** The control is not disabled, neither itself nor by what is around it. */
  toBeEnabled(options?: Timeout): void;
  /** The control is disabled, itself or by what is around it. */
  toBeDisabled(options?: Timeout): void;
  /** The checkbox, radio button, or switch is on. */
  toBeChecked(options?: Timeout): void;
  /** The field has this value; an array for a list of several choices. */
  toHaveValue(value: string | number | RegExp | readonly string[], options?: Timeout): void;
  /** So many visible elements match. */
  toHaveCount(count: number, options?: Timeout): void;
  /** The element has the attribute. */
  toHaveAttribute(name: string, options?: Timeout): void;
  /** The element has the attribute, with this value. */
  toHaveAttribute(name: string, value: string | number | RegExp, options?: Timeout): void;
  /** For \`agent.expect(agent)\`: the page has this address. A relative one is resolved. */
  toHaveURL(url: string | RegExp, options?: Timeout): void;
  /** For \`agent.expect(agent)\`: the page has this title. */
  toHaveTitle(title: string | RegExp, options?: Timeout): void;
}
interface RequestAnswer {
  /** The HTTP status. */
  status: number;
  statusText: string;
  /** By their names in small letters. */
  headers: { [name: string]: string };
  /** A value if it is JSON, otherwise the text. */
  body: any;
  text: string;
  durationMs: number;
  /** The tests of the request; none of them has failed. */
  tests: { name: string; status: 'passed' | 'skipped' }[];
  /** What its scripts wrote. */
  console: string[];
  /** Variables without a value. */
  unresolved: string[];
}
interface Console {
${LEVELS.map((level) => `  /** Writes a line of the level \`${level}\`, 10,000 characters at most. */\n  ${level}(...values: unknown[]): void;`).join('\n')}
}
`;
}
