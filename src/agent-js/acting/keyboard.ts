import type { AwaitedInput } from '../../page/page-calls.js';
import { TroupeError } from '../../protocol/errors.js';
import type { CdpParams } from '../browser/cdp.js';
import type { Tab } from '../tabs/tab.js';

type KeyEvent = CdpParams<'Input.dispatchKeyEvent'>;

interface Key {
  readonly key: string;
  readonly code: string;
  readonly windowsVirtualKeyCode: number;
  readonly text?: string;
}

/** The bits of the protocol's `modifiers`. */
const MODIFIERS: { readonly [name: string]: { readonly bit: number; readonly key: Key } } = {
  Alt: { bit: 1, key: { key: 'Alt', code: 'AltLeft', windowsVirtualKeyCode: 18 } },
  Control: { bit: 2, key: { key: 'Control', code: 'ControlLeft', windowsVirtualKeyCode: 17 } },
  Meta: { bit: 4, key: { key: 'Meta', code: 'MetaLeft', windowsVirtualKeyCode: 91 } },
  Shift: { bit: 8, key: { key: 'Shift', code: 'ShiftLeft', windowsVirtualKeyCode: 16 } },
};
const SHIFT = 8;
const ALIASES: { readonly [name: string]: string } = {
  ControlOrMeta: 'Control',
  Ctrl: 'Control',
  Cmd: 'Meta',
  Command: 'Meta',
  Option: 'Alt',
  Esc: 'Escape',
  Del: 'Delete',
  Return: 'Enter',
  Up: 'ArrowUp',
  Down: 'ArrowDown',
  Left: 'ArrowLeft',
  Right: 'ArrowRight',
  ' ': 'Space',
};

/** A US keyboard's marks: alone, with Shift, the key's code and its Windows key code. */
const MARKS: readonly (readonly [string, string, string, number])[] = [
  ['1', '!', 'Digit1', 49],
  ['2', '@', 'Digit2', 50],
  ['3', '#', 'Digit3', 51],
  ['4', '$', 'Digit4', 52],
  ['5', '%', 'Digit5', 53],
  ['6', '^', 'Digit6', 54],
  ['7', '&', 'Digit7', 55],
  ['8', '*', 'Digit8', 56],
  ['9', '(', 'Digit9', 57],
  ['0', ')', 'Digit0', 48],
  [';', ':', 'Semicolon', 186],
  ['=', '+', 'Equal', 187],
  [',', '<', 'Comma', 188],
  ['-', '_', 'Minus', 189],
  ['.', '>', 'Period', 190],
  ['/', '?', 'Slash', 191],
  ['`', '~', 'Backquote', 192],
  ['[', '{', 'BracketLeft', 219],
  ['\\', '|', 'Backslash', 220],
  [']', '}', 'BracketRight', 221],
  ["'", '"', 'Quote', 222],
];
/** What a US keyboard types with Shift held. */
const SHIFTED = /^[A-Z~!@#$%^&*()_+{}|:"<>?]$/;

/** Names of https://www.w3.org/TR/uievents-key/ with their Windows key codes. */
const NAMED: { readonly [name: string]: number } = {
  Backspace: 8,
  Tab: 9,
  Enter: 13,
  Escape: 27,
  PageUp: 33,
  PageDown: 34,
  End: 35,
  Home: 36,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
  Insert: 45,
  Delete: 46,
  CapsLock: 20,
  ContextMenu: 93,
};

/** Typing as it is sent, and by what the page hears its end. */
export interface Typing {
  /** Each key waits until the page has heard the one before: a mask has its turn in between. */
  readonly slow?: boolean;
  readonly events: readonly (KeyEvent | { readonly type: 'insertText'; readonly text: string })[];
  readonly awaits: AwaitedInput;
}

/** Sends all at once, where nothing has to wait; it arrives in order. */
export async function type(tab: Tab, { events, slow = false }: Typing, timeoutMs: number): Promise<void> {
  const sent: Promise<unknown>[] = [];
  for (const event of events) {
    const one =
      event.type === 'insertText'
        ? tab.send('Input.insertText', { text: event.text }, timeoutMs)
        : tab.send('Input.dispatchKeyEvent', event, timeoutMs);
    if (slow) await one;
    sent.push(one);
  }
  await Promise.all(sent);
}

/** A key or a chord: `Enter`, `a`, `Control+A`, `Shift+Tab`. @throws SCRIPT_ERROR for what is no key */
export function chord(source: string): Typing {
  const { modifiers, key } = parseChord(source);
  const events: KeyEvent[] = [];
  let held = 0;
  for (const modifier of modifiers) {
    held |= modifier.bit;
    events.push({ type: 'rawKeyDown', ...modifier.key, modifiers: held });
  }
  events.push(...stroke((held & SHIFT) !== 0 ? shifted(key) : held === 0 ? key : unshifted(key), held));
  for (const modifier of [...modifiers].reverse()) {
    held &= ~modifier.bit;
    events.push({ type: 'keyUp', ...modifier.key, modifiers: held });
  }
  return { events, awaits: { event: 'keyup', times: modifiers.length + 1 } };
}

/**
 * A text for the focused field. It arrives at once, its last character by its key: sites that listen for keys hear one, and
 * a long text takes no longer than a short one.
 *
 * @param options.rich an editor, in which the Enter key begins a new line
 */
export function text(source: string, options: { readonly rich: boolean }): Typing {
  const lines = options.rich ? source.split(/\r\n?|\n/) : [source];
  const last = lines.pop() ?? '';
  const enter = stroke(keyNamed('Enter') ?? unknown('Enter'), 0);
  const events: Typing['events'][number][] = lines.flatMap((line) => [...inserted(line), ...enter]);
  const final = last.at(-1) ?? '';
  const byKey = /^[\x20-\x7e]$/.test(final);
  events.push(...inserted(byKey ? last.slice(0, -1) : last));
  if (byKey) events.push(...stroke(characterKey(final), SHIFTED.test(final) ? SHIFT : 0));
  const times = lines.length + (byKey ? 1 : 0);
  // Without any key, the text itself is what the page hears.
  return { events, awaits: times > 0 ? { event: 'keyup', times } : { event: 'beforeinput', times: 1 } };
}

/** A text in place of what is selected in the focused field, each character by its key as far as a keyboard has one. */
export function keys(source: string): Typing {
  const events = [...source].flatMap((character) =>
    /^[\x20-\x7e]$/.test(character)
      ? stroke(characterKey(character), SHIFTED.test(character) ? SHIFT : 0)
      : inserted(character),
  );
  const times = events.filter((event) => event.type === 'keyUp').length;
  return { events: [...chord('Delete').events, ...events], awaits: { event: 'keyup', times: times + 1 }, slow: true };
}

/** One after the other. Of all of them together, the keys are awaited. */
export function inTurn(...each: readonly Typing[]): Typing {
  const times = each.map(({ awaits }) => (awaits.event === 'keyup' ? awaits.times : 0));
  return {
    events: each.flatMap(({ events }) => events),
    awaits: { event: 'keyup', times: times.reduce((sum, one) => sum + one, 0) },
  };
}

/** One key of a person's keyboard, going down or up. */
export function keyEvent(input: {
  readonly action: 'down' | 'up';
  /** As the DOM's `KeyboardEvent` has them. */
  readonly key: string;
  readonly code: string;
  readonly repeat?: boolean | undefined;
  readonly modifiers: number;
}): KeyEvent {
  const { text: typed, ...known } = keyNamed(input.key) ?? { key: input.key, windowsVirtualKeyCode: 0 };
  const event = { ...known, code: input.code, modifiers: input.modifiers };
  if (input.action === 'up') return { type: 'keyUp', ...event };
  const repeated = input.repeat === true ? { autoRepeat: true } : {};
  const types = typed !== undefined && (input.modifiers & ~SHIFT) === 0;
  return types
    ? { type: 'keyDown', ...event, ...repeated, text: typed, unmodifiedText: typed }
    : { type: 'rawKeyDown', ...event, ...repeated };
}

function inserted(part: string): Typing['events'][number][] {
  return part === '' ? [] : [{ type: 'insertText', text: part }];
}

/** A key goes down and up. With Control, Alt or Meta it types nothing. */
function stroke({ text: typed, ...key }: Key, held: number): KeyEvent[] {
  const types = typed !== undefined && (held & ~SHIFT) === 0;
  const down: KeyEvent = types
    ? { type: 'keyDown', ...key, text: typed, unmodifiedText: typed, modifiers: held }
    : { type: 'rawKeyDown', ...key, modifiers: held };
  return [down, { type: 'keyUp', ...key, modifiers: held }];
}

function parseChord(source: string): { modifiers: { readonly bit: number; readonly key: Key }[]; key: Key } {
  // The last + may be the key itself.
  const parts =
    source === '+' ? ['+'] : source.endsWith('++') ? [...source.slice(0, -2).split('+'), '+'] : source.split('+');
  const names = parts.map((part) => ALIASES[part] ?? part);
  const last = names.pop() ?? '';
  const modifiers = names.map((name) => {
    const modifier = MODIFIERS[name];
    if (modifier === undefined) throw unknownKey(source);
    return modifier;
  });
  return { modifiers, key: keyNamed(last) ?? unknown(source) };
}

function keyNamed(name: string): Key | undefined {
  const code = NAMED[name];
  if (code !== undefined) {
    return { key: name, code: name, windowsVirtualKeyCode: code, ...(name === 'Enter' ? { text: '\r' } : {}) };
  }
  if (name === 'Space') return { key: ' ', code: 'Space', windowsVirtualKeyCode: 32, text: ' ' };
  const modifier = MODIFIERS[name];
  if (modifier !== undefined) return modifier.key;
  const functionKey = /^F([1-9]|1\d|2[0-4])$/.exec(name);
  if (functionKey !== null) return { key: name, code: name, windowsVirtualKeyCode: 111 + Number(functionKey[1]) };
  return [...name].length === 1 ? characterKey(name) : undefined;
}

function characterKey(character: string): Key {
  const upper = character.toUpperCase();
  if (/^[A-Z]$/.test(upper)) return keyOf(character, `Key${upper}`, upper.charCodeAt(0));
  if (/^\d$/.test(character)) return keyOf(character, `Digit${character}`, character.charCodeAt(0));
  if (character === ' ') return keyOf(' ', 'Space', 32);
  for (const [plain, withShift, code, keyCode] of MARKS) {
    if (character === plain || character === withShift) return keyOf(character, code, keyCode);
  }
  return keyOf(character, '', 0);
}

function keyOf(typed: string, code: string, windowsVirtualKeyCode: number): Key {
  return { key: typed, code, windowsVirtualKeyCode, text: typed };
}

/** What the key gives together with Shift. */
function shifted(key: Key): Key {
  const plain = key.text ?? '';
  if (/^[a-z]$/.test(plain)) return { ...key, key: plain.toUpperCase(), text: plain.toUpperCase() };
  const mark = MARKS.find(([one]) => one === plain)?.[1];
  return mark === undefined ? key : { ...key, key: mark, text: mark };
}

/** `Control+K` is pressed without Shift, where the key gives a small letter: what pages compare with. */
function unshifted(key: Key): Key {
  const letter = key.text ?? '';
  return /^[A-Z]$/.test(letter) ? { ...key, key: letter.toLowerCase(), text: letter.toLowerCase() } : key;
}

function unknown(source: string): never {
  throw unknownKey(source);
}

function unknownKey(source: string): TroupeError {
  const known = [NAMED, MODIFIERS, ALIASES].flatMap((keys) => Object.keys(keys));
  const parts = source.split('+').map((part) => known.find((key) => key.toLowerCase() === part.toLowerCase()) ?? part);
  const meant = parts.join('+');
  const keys = meant === source ? 'Enter, Tab, ArrowDown, a, F5, or a chord as Control+A' : `${meant} is`;
  const message = `${JSON.stringify(source)} is not a key: ${keys}`;
  return new TroupeError('SCRIPT_ERROR', message);
}
