/** What can be written at the caret of a field. */
export interface Suggestions {
  /** The beginning of the text that a choice replaces; its end is the caret. */
  readonly from: number;
  readonly options: readonly { readonly text: string; readonly detail: string }[];
}

/** Null where nothing is suggested. */
export type SuggestionSource = (text: string, caret: number) => Suggestions | null;

const MAX_SHOWN = 50;
let lists = 0;

/**
 * Offers texts below a field while somebody types: arrow keys choose, Enter and Tab take, Escape closes. Nothing is
 * chosen by itself, so that Enter does what it does elsewhere.
 */
export function suggest(field: HTMLInputElement, source: SuggestionSource) {
  let read = source;
  let found: Suggestions | null = null;
  let chosen = -1;
  let list: HTMLElement | null = null;
  lists += 1;
  const id = `suggestions-${lists}`;

  const close = (): void => {
    list?.remove();
    list = null;
    found = null;
    for (const name of ['role', 'aria-expanded', 'aria-controls', 'aria-activedescendant']) field.removeAttribute(name);
  };

  const take = (index: number): void => {
    const option = found?.options[index];
    if (found === null || option === undefined) return;
    const caret = field.selectionStart ?? field.value.length;
    field.setRangeText(option.text, found.from, caret, 'end');
    close();
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    // A variable is complete; of other texts more may follow.
    close();
  };

  const choose = (index: number): void => {
    chosen = index;
    const rows = [...(list?.children ?? [])];
    for (const [at, row] of rows.entries()) row.setAttribute('aria-selected', String(at === chosen));
    rows[chosen]?.scrollIntoView({ block: 'nearest' });
    if (chosen === -1) field.removeAttribute('aria-activedescendant');
    else field.setAttribute('aria-activedescendant', `${id}-${chosen}`);
  };

  const draw = ({ options }: Suggestions): void => {
    list ??= document.createElement('ul');
    list.id = id;
    list.className = 'suggestions';
    list.setAttribute('role', 'listbox');
    list.setAttribute('aria-label', 'Suggestions');
    list.replaceChildren(
      ...options.slice(0, MAX_SHOWN).map(({ text, detail }, at) => {
        const row = document.createElement('li');
        row.id = `${id}-${at}`;
        row.setAttribute('role', 'option');
        const name = document.createElement('code');
        name.textContent = text;
        const value = document.createElement('span');
        value.textContent = detail;
        row.append(name, value);
        // Before the field loses the focus.
        row.addEventListener('mousedown', (event) => {
          event.preventDefault();
          take(at);
        });
        return row;
      }),
    );
    if (!list.isConnected) (field.closest('dialog, main, aside, nav') ?? document.body).append(list);
    const { left, bottom, width } = field.getBoundingClientRect();
    list.style.left = `${Math.max(0, Math.min(left, innerWidth - 260))}px`;
    list.style.top = `${bottom}px`;
    list.style.minWidth = `${Math.min(Math.max(width, 240), 480)}px`;
    list.style.maxHeight = `${Math.max(80, Math.min(240, innerHeight - bottom - 8))}px`;
    field.setAttribute('role', 'combobox');
    field.setAttribute('aria-expanded', 'true');
    field.setAttribute('aria-controls', id);
    choose(-1);
  };

  const onInput = (event: Event): void => {
    if (event instanceof InputEvent && event.isComposing) return;
    found = read(field.value, field.selectionStart ?? field.value.length);
    if (found === null || found.options.length === 0 || document.activeElement !== field) close();
    else draw(found);
  };

  const onKey = (event: KeyboardEvent): void => {
    if (found === null || list === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const count = list.children.length;
    if (event.key === 'ArrowDown') choose((chosen + 1) % count);
    else if (event.key === 'ArrowUp') choose((chosen <= 0 ? count : chosen) - 1);
    else if (event.key === 'Escape') close();
    else if ((event.key === 'Enter' || event.key === 'Tab') && chosen >= 0) take(chosen);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  field.addEventListener('input', onInput);
  field.addEventListener('keydown', onKey);
  field.addEventListener('blur', close);
  return {
    update(next: SuggestionSource): void {
      read = next;
    },
    destroy(): void {
      close();
      field.removeEventListener('input', onInput);
      field.removeEventListener('keydown', onKey);
      field.removeEventListener('blur', close);
    },
  };
}
