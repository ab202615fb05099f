import type { NameMemory } from '../names/name-memory.js';
import { naturalRole, roleOf } from '../names/roles.js';
import type { Whereabouts } from '../tree/sight.js';
import type { Rect } from '../tree/visibility.js';

/** Something that a person can operate, and that is rendered. What it is called and where it is, is found out when somebody asks. */
export class Control {
  readonly element: Element;
  readonly role: string;
  /** Where it is drawn, or what is drawn in its place, in its document's viewport. */
  readonly rect: Rect;
  readonly #memory: NameMemory;
  readonly #find: () => Whereabouts;
  #name: string | undefined;
  #words: readonly string[] | undefined;
  #whereabouts: Whereabouts | undefined;

  /** @param find finds out where it is */
  constructor(element: Element, rect: Rect, memory: NameMemory, find: () => Whereabouts) {
    this.element = element;
    this.role = roleOf(element);
    this.rect = rect;
    this.#memory = memory;
    this.#find = find;
  }

  get name(): string {
    this.#name ??= this.#memory.nameOf(this.element, this.rect);
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

  /** To be asked in the turn in which it was found. */
  get whereabouts(): Whereabouts {
    this.#whereabouts ??= this.#find();
    return this.#whereabouts;
  }
}
