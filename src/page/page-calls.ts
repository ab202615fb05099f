import type { ActionName, ElementDescriptor } from '../protocol/look.js';
import type { ElementBox } from '../protocol/report/element-box.js';
import type { WireDescriptor } from './wire-descriptor.js';

/** Nothing visible answers to a locator, or less than it asks for. */
export interface MissingProblem {
  readonly problem: 'missing';
  readonly message: string;
  /** The most similar locators of the page. */
  readonly near: readonly string[];
  /** Those of them whose names resemble the one sought; the others are only of its kind. */
  readonly alike: readonly string[];
  /** What the page's status messages and alerts say. */
  readonly says: readonly string[];
  /** There are so many, counted with those that are inert: nothing has gone. */
  readonly behind?: boolean;
}

/** Why a locator could not be resolved, or the element not be used. Crosses from the page as JSON. */
export type PageProblem =
  | { readonly problem: 'syntax'; readonly message: string }
  | MissingProblem
  | { readonly problem: 'ambiguous'; readonly matches: readonly string[] }
  /** It meant an element that is no longer there, or is another one now: `reason` is a sentence's end. */
  | { readonly problem: 'stale'; readonly reason: string }
  /**
   * The element is there and cannot take the action: `reason` completes "it ...". `final`: waiting will not help.
   * `lasting`: nor will it, unless the page does something by itself; `quiet`: which it has not for some time.
   */
  | {
      readonly problem: 'blocked';
      readonly reason: string;
      readonly final: boolean;
      readonly lasting?: boolean;
      readonly quiet?: boolean;
      /** It may be otherwise as soon as the page has been drawn. */
      readonly soon?: boolean;
      /** Its style takes the pointer away from it, or did when the pointer was not above it. */
      readonly lost?: boolean;
    };

/** An element that can take an action now. Points are CSS pixels of the viewport. */
export interface Ready {
  readonly x: number;
  readonly y: number;
  readonly tag: string;
  readonly inputType: string;
  /** The wheel is to be turned over it, so far: it scrolls by its own script, or by what holds it. */
  readonly wheel: readonly [dx: number, dy: number] | null;
  readonly password: boolean;
  /** An editor, not a field. */
  readonly rich: boolean;
  /** An editor that draws its text by itself: no script can select what it holds, but its keys do. */
  readonly canvasEditor: boolean;
  /** Of a checkbox, radio button or switch; null for others. */
  readonly checked: boolean | null;
  /** What came of it, where the action is one that the page's script has done by itself; null: input is wanted. */
  readonly finished: Finished | null;
  /** The browser may carry it off by its own drag and drop. Asked of a drag alone. */
  readonly draggable: boolean;
  /** The input is only a step on the way: it opens a list or a cell's field, see {@link ReadyRequest.list}, or moves a slider. */
  readonly opens: boolean;
  /** Keys that are to be pressed in the place of a text. */
  readonly presses: Presses | null;
  /** It is pressed twice. */
  readonly doubles: boolean;
  /** It is dragged so far, in the place of a text. */
  readonly carries: readonly [dx: number, dy: number] | null;
  /** The field is that of a cell: Enter ends it. */
  readonly commits: boolean;
  /** The page reacts already to the press: it has its turn before the button is let go. */
  readonly holds: boolean;
  /** The option's text is to be typed into the element, which filters its list. */
  readonly types: boolean;
  /** The pointer is to be above the element first: it takes no press now, and may then. */
  readonly hovers: boolean;
}

/** A key, as `press` names it, and how often it is pressed. */
export interface Presses {
  readonly key: string;
  readonly times: number;
}

export interface ReadyRequest extends Sought<string> {
  readonly action: ActionName;
  readonly value: string | readonly string[] | null;
  /** Where in the element the pointer goes, see {@link CornerPoint}; null: anywhere that it is open. */
  readonly at: CornerPoint | null;
  /** Of a control that is no `select`: whether its list has been opened, so that the action goes to an option in it. The same
   * of a cell and its field. */
  readonly list: 'closed' | 'perhaps open' | 'open';
  /** The pointer has been put above the element, see {@link Ready.hovers}. */
  readonly hovered: boolean;
  /** The text is to come by real keys alone. */
  readonly byKeys: boolean;
  /** How long the page may wait for the element. */
  readonly ms: number;
}

/** A point of an element, in CSS pixels from the corner of its box. */
export interface CornerPoint {
  readonly x: number;
  readonly y: number;
}

/** An element that is asked for. */
export interface Sought<L extends string | null> {
  readonly locator: L;
  /** The look of that document that showed the locator, and whose numbers hold; without it, what it means now. */
  readonly look?: number;
  /** The run of a flow that asks; null: a script in no flow. What an error has listed holds for the one that it was told. */
  readonly flowRun?: number | null;
}

/** Where an element is drawn, in CSS pixels from the document's beginning. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** The part of the document that is seen, in CSS pixels, and how many pixels of a picture each of them has. */
export interface SeenPart extends Box {
  /** Greater than 1 if the page is magnified, as by two fingers. */
  readonly zoom: number;
  readonly deviceScaleFactor: number;
}

/** A list takes an item in once it is dragged this part of the target's size past the target's middle. */
export const PAST_MIDDLE = 0.3;

/** The middle of what can be seen of an element, and how large it is; CSS pixels of the viewport. */
export interface DropPoint {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** What is dropped on it goes into it, as into a branch of a tree. */
  readonly into: boolean;
}

/** Without a locator, the element that was found before; `at`: a point of it, rather than its middle. */
export interface DropRequest extends Sought<string | null> {
  readonly still: boolean;
  readonly at: CornerPoint | null;
}

/** Real input that must have reached the document. */
export interface AwaitedInput {
  readonly event: 'keyup' | 'beforeinput';
  readonly times: number;
}

/** Where a drag was to end: at a locator, or so far from where it began; neither: at a point, of which nothing is known. */
export interface DragWish {
  readonly to: string | null;
  readonly by: readonly [dx: number, dy: number] | null;
}

/** What has come of a drag: `dropped` on a target that has taken it, while the element stands where it stood. */
export type DragEnd =
  | { readonly outcome: 'moved' | 'copied' | 'removed' | 'dropped' }
  /** Its page has put it elsewhere than asked; how far it has really come. */
  | { readonly outcome: 'snapped'; readonly by: readonly [dx: number, dy: number] };

/** Why a drag is none; the reason completes "it ...". */
export interface DragFailure {
  /** It stands somewhere else; it went back to where it was; nothing on the page has noticed it. */
  readonly failure: 'elsewhere' | 'back' | 'nothing';
  readonly reason: string;
}

export interface FinishRequest {
  /** How long an action without any effect so far is given to have one. */
  readonly graceMs: number;
  readonly typed: string | null;
  /** What was to be chosen. */
  readonly chosen: readonly string[] | null;
  readonly awaits: AwaitedInput | null;
  readonly drag: DragWish | null;
}

export interface PageState {
  readonly url: string;
  readonly title: string;
}

/** A part of a list: so many elements of the earlier one from a place on, or a new element. */
export type ListPiece = readonly [from: number, count: number] | ElementDescriptor;

/** The same, as a page tells it. */
export type WirePiece = readonly [from: number, count: number] | WireDescriptor;

/** What one document and those it reaches show. */
export interface PageLook extends PageState {
  /** Of this look in its document. */
  readonly id: number;
  /** The earlier look whose list the pieces are taken from; null: there is none. */
  readonly base: number | null;
  readonly pieces: readonly WirePiece[];
  /** Where it was asked for, the pieces are of all that is rendered. */
  readonly joint?: {
    /** Of each element its whole name and the words for it. */
    readonly names: readonly (readonly [name: string, ...words: string[]])[];
    /** Places of elements that count, and that no look shows, since nobody can point at them. */
    readonly covered: readonly number[];
    /** Frames of other origins, which stand before the element at a place. `frame` is null for one without a name yet. */
    readonly gaps: readonly {
      readonly at: number;
      readonly frame: string | null;
      readonly is: 'here' | 'offscreen' | 'unreachable';
    }[];
  };
}

/** A picture, a PNG in base64, on which the elements of a look are to be marked. */
export interface MarksRequest {
  readonly png: string;
  /** The part of the document that it shows; null: the viewport. */
  readonly clip: Box | null;
  readonly marks: readonly { readonly label: string; readonly locator: string; readonly look: number }[];
}

/** How many elements a locator means that can be used. */
export interface MatchCounts {
  /** Controls before, between and after the frames of other origins. */
  readonly counts: readonly number[];
  readonly frames: readonly { readonly frame: string | null; readonly isOpen: boolean; readonly isInert: boolean }[];
  /** What is no control, or was asked for by CSS or XPath. */
  readonly others: number;
  /** Further, those that can only be read: behind a modal dialog, or inert in another way. */
  readonly inert: number;
  /** The numbers of the first two that are neither clipped nor covered, of those that can be used, or else of the inert ones. Empty unless asked for. */
  readonly open: readonly number[];
}

/** A numbered locator that meant another element when only what nothing covers was counted. */
export interface MovedNumber {
  readonly locator: string;
  /** What the element that it meant is called now; null: it is inert, behind a modal dialog. */
  readonly now: string | null;
}

/** What a frame of another origin is to the document around it. */
export interface FramePoint {
  readonly frame: string;
  readonly x: number;
  readonly y: number;
}

/** What came of typing a text into a field, or of choosing it. */
export interface TypedOutcome {
  /** It stands there; the page has taken it and emptied the field, or removed it; or something else stands there. */
  readonly kind: 'same' | 'emptied' | 'gone' | 'other';
  /** What stands there now. Never a password. */
  readonly shown: string;
  /** Of another text, in a field that still has the focus: it may be typed once more, key by key. */
  readonly again?: boolean;
}

export interface Finished extends PageState {
  /** False: the awaited input has not arrived yet, and nothing else is known. */
  readonly heard: boolean;
  readonly changed: boolean;
  /** A frame's form is being sent to the page around it, which tells of that in its own time. */
  readonly submitsOutwards: boolean;
  /** Why the element did not take the input, completing "it ..."; null when it did. */
  readonly missed: string | null;
  /** What the element was to become by its input and has not, completing "it ..."; null where it has, or nobody can tell. */
  readonly undone: string | null;
  /** Of a text that was typed; null where nobody can tell, and for other actions. */
  readonly typed: TypedOutcome | null;
  /** Null where nobody can tell, and for all but a drag. */
  readonly dragged: DragEnd | DragFailure | null;
}

/** What an assertion reads. `locator` is null for the page's title and text. */
export interface ObserveRequest extends Sought<string | null> {
  readonly what: 'text' | 'value' | 'visible' | 'enabled' | 'checked' | 'count' | 'attribute' | 'title';
  /** The attribute's name. */
  readonly name: string | null;
  /** The id of the last reading: only another one is worth an answer, until `ms` are over. Null: answer at once. */
  readonly since: string | null;
  readonly ms: number;
  /** Whether a problem lists matches and near misses. */
  readonly explain: boolean;
}

/** A reading; `id` is the same as long as nothing of it has changed. */
export interface Observation {
  readonly id: string;
  readonly observed: Observed;
}

export type Observed =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'problem'; readonly problem: PageProblem };

/** A timer that is still to come: in how many milliseconds it is due, or how often it repeats. */
export interface PendingTimer {
  readonly ms: number;
  readonly repeats: boolean;
}

/** What can be asked of the script in a page's isolated world: arguments and result, as JSON. */
export interface PageCalls {
  state: [null, PageState];
  /** Whether the document around this one's frame reaches it. */
  reached: [null, { readonly reached: boolean }];
  look: [
    {
      readonly within: Sought<string> | null;
      readonly base: number | null;
      /** The asker joins the lists of several documents. */
      readonly joined: boolean;
    },
    PageLook | PageProblem,
  ];
  /** `sifts`: those that are neither clipped nor covered are wanted. */
  count: [{ readonly locator: string; readonly sifts: boolean }, MatchCounts | PageProblem];
  /** Numbered locators that mean another element now than when they did not count what a box has scrolled out of sight. */
  recount: [{ readonly locators: readonly string[] }, { readonly moved: readonly MovedNumber[] }];
  /** From a point in a frame's viewport to the point in this one's, uncovered. Guards against input elsewhere. */
  through: [FramePoint, { readonly x: number; readonly y: number } | PageProblem];
  /** Whether a frame of another origin can only be read: it is behind a modal dialog, or inert in another way. */
  inert: [{ readonly frame: string }, { readonly inert: boolean }];
  /** Ends the guard that `through` set, and says what took the input in the frame's place. */
  release: [null, { readonly missed: string | null }];
  /** Settles when the page has drawn what it has got, and has had a turn after that. */
  turn: [null, object];
  /** Waits for animations that end and timers that an input has set; what is left of them then. */
  settle: [{ readonly ms: number; readonly painted: boolean }, { readonly busy: string | null }];
  /** The timers of this document that are still to come. */
  pending: [null, { readonly timers: readonly PendingTimer[] }];
  /** Waits for a change, so long at most. */
  change: [{ readonly ms: number }, Record<string, never>];
  /** Waits until the element can take the action, and sets the guard on it. */
  ready: [ReadyRequest, Ready | PageProblem];
  /** Takes the element where a drag will end, and answers where it is now; without a locator, the one taken before. */
  dropPoint: [DropRequest, DropPoint | PageProblem];
  /** How far the element that is dragged has come, once it stands still; null where nobody can tell. */
  dragShift: [null, { readonly shift: readonly [dx: number, dy: number] | null }];
  /** Whether what is carried over the page may be let go where it is. */
  takesDrop: [null, { readonly taken: boolean }];
  /** Takes the guard away and says what came of the action. */
  finish: [FinishRequest, Finished];
  /** Waits so long for something to come of the action that has finished last, if nothing had then. */
  late: [{ readonly ms: number }, { readonly changed: boolean; readonly dragged: Finished['dragged'] }];
  /** A select has failed: leaves nothing of it in an editor that it has opened, or in the filter of a list. */
  giveUp: [null, object];
  /** The picture with its marks; null where it cannot be read. */
  drawMarks: [MarksRequest, { readonly png: string | null }];
  /** Nodes of this document and those it reaches, counted as the protocol's search for `<` does. */
  census: [null, { readonly nodes: number }];
  /** With `markdown`: its headings, lists, tables and links as such. */
  text: [Sought<string | null> & { readonly markdown?: boolean }, { readonly text: string } | PageProblem];
  /** Brings the element into view, and answers where it is drawn. */
  box: [Sought<string>, Box | PageProblem];
  seen: [null, SeenPart];
  /** Where the element is in the viewport; nothing is scrolled. */
  spot: [Sought<string>, ElementBox | PageProblem];
  /** Where everything is drawn that the locators mean, and the part of the document that is in sight. */
  boxes: [
    { readonly locators: readonly string[] },
    { readonly view: Box; readonly boxes: readonly Box[] } | PageProblem,
  ];
  /** Holds the page still for a picture, or lets it go on; what has not loaded after `ms`. */
  still: [{ readonly on: boolean; readonly ms: number }, { readonly busy: string | null }];
  value: [Sought<string>, { readonly value: unknown } | PageProblem];
  /** True when it appeared (went, with `gone`), false after `ms`. */
  waitFor: [
    Sought<string> & { readonly gone: boolean; readonly ms: number },
    { readonly found: boolean } | PageProblem,
  ];
  observe: [ObserveRequest, Observation];
}

export type PageCallName = keyof PageCalls;

/** Calls that wait for something; the others are answered at once, which costs the protocol less. */
export const WAITING_CALLS = [
  'change',
  'settle',
  'turn',
  'ready',
  'dropPoint',
  'dragShift',
  'finish',
  'late',
  'giveUp',
  'waitFor',
  'observe',
  'drawMarks',
  'still',
] as const satisfies readonly PageCallName[];

/** The isolated world's name, and of the one global in it. */
export const WORLD = 'troupe';

/** A function in that world by which it says that a dialog opens because of what it does. */
export const OWN_DIALOG = 'troupeDialog';

/** A function in that world by which it says that a script has had markup parsed that declares shadow roots. */
export const DECLARED = 'troupeDeclared';

/** Called when a document has written itself anew. */
export const REWRITTEN = 'troupeRewritten';

export function isProblem(value: object): value is PageProblem {
  return 'problem' in value;
}
