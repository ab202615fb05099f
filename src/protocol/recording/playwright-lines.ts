import { assertNever } from '../../base/assert-never.js';
import { notRecorded } from './flow-lines.js';
import { quote } from './quote.js';
import type { RecordedAct, RecordedTarget } from './recorded-act.js';
import { type Recording, unwritable } from './recording.js';

type Act = Extract<RecordedAct, { kind: 'act' }>;
type Expectation = Extract<RecordedAct, { kind: 'expect' }>;

/** A recording as a file of Playwright Test. Hidden texts come from the environment: `{{password}}` is `PASSWORD`. */
export function playwrightFile(recording: Recording): string {
  const lines = playwrightLines(recording).map((line) => `  ${line}`);
  const head = "import { expect, test } from '@playwright/test';\n\ntest('recorded', async ({ page }) => {";
  return `${[head, ...lines, '});'].join('\n')}\n`;
}

/** The body of the test, line by line. */
export function playwrightLines(recording: Recording): string[] {
  const lines: string[] = [];
  let page = 'page';
  const pages = new Map([[0, 'page']]);
  const { acts } = recording;
  for (const [at, act] of acts.entries()) {
    const next = acts[at + 1];
    const line = lineOf(act, page, recording);
    if (act.kind === 'tab') {
      page = pages.get(act.index) ?? `page${act.index}`;
      if (act.opened || pages.has(act.index)) pages.set(act.index, page);
      else lines.push(notRecorded('a tab that no page opened'));
    } else if (next?.kind === 'tab' && next.opened && line !== null) {
      const popup = `page${next.index}`;
      lines.push(
        `const ${popup}Opened = ${page}.waitForEvent('popup');`,
        line,
        `const ${popup} = await ${popup}Opened;`,
      );
    } else if (next?.kind === 'dialog' && line !== null) {
      // A dialog is answered by a listener, which must be there before.
      lines.push(`${page}.once('dialog', (dialog) => ${answerTo(next)});`, line);
    } else if (line !== null) lines.push(line);
  }
  return lines;
}

function answerTo({ accepted, input }: Extract<RecordedAct, { kind: 'dialog' }>): string {
  if (!accepted) return 'dialog.dismiss()';
  return `dialog.accept(${input === null ? '' : quote(input)})`;
}

/** Null for what the lines around it say. */
function lineOf(act: RecordedAct, page: string, recording: Recording): string | null {
  switch (act.kind) {
    case 'act':
      return actLine(act, page, recording);
    case 'expect':
      return expectLine(act, page);
    case 'go':
      return `await ${page}.goto(${quote(act.url)});`;
    case 'back':
      return `await ${page}.goBack();`;
    case 'note':
      return notRecorded(act.text);
    case 'tab':
    case 'dialog':
      return null;
    default:
      return assertNever(act);
  }
}

function actLine(act: Act, page: string, recording: Recording): string {
  const reason = act.target.apart ? 'an element in a frame of another origin' : unwritable(act);
  if (reason !== null) return notRecorded(`${act.action} on ${act.target.locator}: ${reason}`);
  const located = locatorOf(act.target, page);
  const point = act.at === null ? '' : `position: { x: ${act.at.x}, y: ${act.at.y} }`;
  const options = (...parts: readonly string[]) => {
    const given = parts.filter((part) => part !== '');
    return given.length === 0 ? '' : `{ ${given.join(', ')} }`;
  };
  switch (act.action) {
    case 'click':
      return `await ${located}.click(${options(point)});`;
    case 'dblclick':
      return `await ${located}.dblclick(${options(point)});`;
    case 'tripleclick':
      return `await ${located}.click(${options('clickCount: 3', point)});`;
    case 'rightclick':
      return `await ${located}.click(${options("button: 'right'", point)});`;
    case 'hover':
      return `await ${located}.hover(${options(point)});`;
    case 'check':
      return `await ${located}.check();`;
    case 'uncheck':
      return `await ${located}.uncheck();`;
    case 'input': {
      if (!act.secret) return `await ${located}.fill(${quote(String(act.value))});`;
      const name = recording.secretOf(act.target).toUpperCase();
      return `await ${located}.fill(process.env.${name} ?? '');`;
    }
    case 'press':
      return `await ${located}.press(${quote(String(act.value))});`;
    case 'select':
      return `await ${located}.selectOption(${labelsOf(act.value)});`;
    case 'upload':
      return `await ${located}.setInputFiles(${namesOf(act.value)});`;
    case 'drag':
      return dragLine(act, located, page);
    default:
      return notRecorded(`${act.action} on ${act.target.locator}`);
  }
}

function dragLine({ drag, target }: Act, located: string, page: string): string {
  if (drag !== null && 'to' in drag) {
    const at = drag.at === null ? '' : `, { targetPosition: { x: ${drag.at.x}, y: ${drag.at.y} } }`;
    return `await ${located}.dragTo(${locatorOf(drag.to, page)}${at});`;
  }
  return notRecorded(`drag of ${target.locator} along a way`);
}

function expectLine({ target, what, expected }: Expectation, page: string): string {
  if (target.apart) return notRecorded('an assertion in a frame of another origin');
  const seen = `expect(${locatorOf(target, page)})`;
  switch (what) {
    case 'visible':
      return `await ${seen}.toBeVisible();`;
    case 'text':
      return `await ${seen}.toHaveText(${quote(String(expected))});`;
    case 'value':
      return `await ${seen}.toHaveValue(${quote(String(expected))});`;
    case 'checked':
      return `await ${seen}.${expected === true ? '' : 'not.'}toBeChecked();`;
    default:
      return assertNever(what);
  }
}

function locatorOf({ byRole, css, frames }: RecordedTarget, page: string): string {
  const inner = frames.reduce((outer, frame) => `${outer}.frameLocator(${quote(frame)})`, page);
  if (byRole === null) return `${inner}.locator(${quote(css)})`;
  const { role, name, nth } = byRole;
  const found = `${inner}.getByRole(${quote(role)}, { name: ${quote(name)}, exact: true })`;
  return nth === null ? found : `${found}.nth(${nth})`;
}

function labelsOf(value: Act['value']): string {
  if (Array.isArray(value)) return `[${value.map((one) => `{ label: ${quote(String(one))} }`).join(', ')}]`;
  return `{ label: ${quote(String(value))} }`;
}

function namesOf(value: Act['value']): string {
  return Array.isArray(value) ? `[${value.map((one) => quote(String(one))).join(', ')}]` : quote(String(value));
}
