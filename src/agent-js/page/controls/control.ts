import type { NameMemory } from '../names/name-memory.js';
import { naturalRole, roleOf } from '../names/roles.js';
import type { Rect } from '../tree/visibility.js';

/** Something that a person can operate. Its name is computed when somebody asks. */
export class Control {
  readonly element: Element;
  readonly role: string;
  readonly rect: Rect;
  /** It must be scrolled to. */
  readonly offscreen: boolean;
  readonly #memory: NameMemory;
  #name: string | undefined;
  #words: readonly string[] | undefined;

  constructor(element: Element, rect: Rect, offscreen: boolean, memory: NameMemory) {
    this.element = element;
    this.role = roleOf(element);
    this.rect = rect;
    this.offscreen = offscreen;
    this.#memory = memory;
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
}
