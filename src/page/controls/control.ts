import { personalName } from '../names/guessed-name.js';
import { naturalRole, roleOf } from '../names/roles.js';
import type { Whereabouts } from '../tree/sight.js';
import type { Rect } from '../tree/visibility.js';

/** Where something is drawn. */
export interface Place {
  /** Of the control, or of what is drawn in its place, in its document's viewport. */
  readonly rect: Rect;
  readonly find: () => Whereabouts;
  /** Once it is found: it is in view and gets what is pressed in its middle. */
  readonly isHit: () => boolean;
}

const NOWHERE: Rect = { left: 0, top: 0, right: 0, bottom: 0, width: 0, height: 0 };

/**
 * Something that a person can operate, if it is rendered. Whether it is, what it is called and where it is, is found out when
 * somebody asks, in the turn in which it was found.
 */
export class Control {
  readonly element: Element;
  readonly role: string;
  readonly #locate: () => Place | null;
  #name: string | undefined;
  #words: readonly string[] | undefined;
  #place: Place | null | undefined;
  #whereabouts: Whereabouts | undefined;

  /** @param locate answers null for what is not rendered, and has nothing in its place either */
  constructor(element: Element, locate: () => Place | null) {
    this.element = element;
    this.role = roleOf(element);
    this.#locate = locate;
  }

  get name(): string {
    this.#name ??= personalName(this.element);
    return this.#name;
  }

  /** The words by which locators may call it. */
  get words(): readonly string[] {
    if (this.#words === undefined) {
      const natural = this.role === this.element.localName ? naturalRole(this.element) : this.role;
      this.#words = natural === this.role ? [this.role] : [this.role, natural];
    }
    return this.#words;
  }

  get isRendered(): boolean {
    return this.#found !== null;
  }

  /** Where it is drawn, or what is drawn in its place, in its document's viewport. */
  get rect(): Rect {
    return this.#found?.rect ?? NOWHERE;
  }

  get whereabouts(): Whereabouts {
    this.#whereabouts ??= this.#found?.find() ?? 'unreachable';
    return this.#whereabouts;
  }

  /** Whether it is in view, and gets what is pressed in its middle. */
  get isHit(): boolean {
    return this.whereabouts === 'here' && this.#found?.isHit() === true;
  }

  get #found(): Place | null {
    if (this.#place === undefined) this.#place = this.#locate();
    return this.#place;
  }
}
