import { assertNever } from '../../base/assert-never.js';
import { quote } from './quote.js';
import type { RecordedAct, RecordedDrag } from './recorded-act.js';
import { type Recording, unwritable } from './recording.js';

type Act = Extract<RecordedAct, { kind: 'act' }>;
type Expectation = Extract<RecordedAct, { kind: 'expect' }>;

/** A recording as lines of a flow. All texts of pages are in literals or left out. */
export function flowLines(recording: Recording): string[] {
  return recording.acts.flatMap((act) => lineOf(act, recording));
}

function lineOf(act: RecordedAct, recording: Recording): string[] {
  switch (act.kind) {
    case 'act':
      return [actLine(act, recording)];
    case 'expect':
      return [expectLine(act)];
    case 'go':
      return [`agent.go(${quote(act.url)});`];
    case 'back':
      return ['agent.back();'];
    case 'tab':
      // A flow follows the tab that its act opened.
      return act.opened ? [] : [`agent.tab(${act.index});`];
    case 'dialog':
      return [
        ...(act.input === null ? [] : [`agent.act('{dialog}Input', 'input', ${quote(act.input)});`]),
        `agent.act(${quote(act.accepted ? '{dialog}OK' : '{dialog}Cancel')}, 'click');`,
      ];
    case 'note':
      return [notRecorded(act.text)];
    default:
      return assertNever(act);
  }
}

function actLine(act: Act, recording: Recording): string {
  const reason = unwritable(act);
  if (reason !== null) return notRecorded(reason);
  const args = [quote(act.target.locator), quote(act.action), ...valueArgs(act, recording)];
  if (act.at !== null) args.push(`{ x: ${act.at.x}, y: ${act.at.y} }`);
  return `agent.act(${args.join(', ')});`;
}

function valueArgs(act: Act, recording: Recording): string[] {
  if (act.secret) return [quote(`{{${recording.secretOf(act.target)}}}`)];
  if (act.drag !== null) return [dragOf(act.drag)];
  if (act.value === null) return [];
  if (typeof act.value === 'string') return [quote(act.value)];
  return [`[${act.value.map((one) => (typeof one === 'string' ? quote(one) : String(one))).join(', ')}]`];
}

function dragOf(drag: RecordedDrag): string {
  if ('by' in drag) return `{ by: [${drag.by.join(', ')}] }`;
  if ('path' in drag) return `{ path: [${drag.path.map(([x, y]) => `[${x}, ${y}]`).join(', ')}] }`;
  const to = quote(drag.to.locator);
  return drag.at === null ? to : `{ to: ${to}, x: ${drag.at.x}, y: ${drag.at.y} }`;
}

function expectLine({ target, what, expected }: Expectation): string {
  const seen = `agent.expect(${quote(target.locator)})`;
  switch (what) {
    case 'visible':
      return `${seen}.toBeVisible();`;
    case 'text':
      return `${seen}.toHaveText(${quote(String(expected))});`;
    case 'value':
      return `${seen}.toHaveValue(${quote(String(expected))});`;
    case 'checked':
      return expected === true ? `${seen}.toBeChecked();` : `${seen}.not.toBeChecked();`;
    default:
      return assertNever(what);
  }
}

/** A comment: the text is quoted as a literal is, so that it cannot end the line. */
export function notRecorded(text: string): string {
  return `// Not recorded: ${quote(text)}`;
}
