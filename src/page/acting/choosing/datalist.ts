import { meantOption } from '../../controls/options.js';
import { inputKind } from '../../names/roles.js';
import { asSeen } from '../../names/seen-text.js';
import { isHtml } from '../../tree/flat-tree.js';
import { setValue } from '../field.js';

/** The list from which the browser offers values for a field; null where it offers none. */
export function datalistOf(element: Element): HTMLDataListElement | null {
  return isHtml(element, 'input') ? element.list : null;
}

/** What a list offers: each option as it is drawn, and the one that a text means by its value or its label. */
export function offered(list: HTMLDataListElement, text: string): { texts: string[]; match: HTMLOptionElement | null } {
  const wanted = asSeen(text);
  const options = [...list.options].map((option) => {
    const isValue = option.value === text || asSeen(option.value) === wanted;
    const isLabel = asSeen(option.label) === wanted;
    return { option, text: asSeen(option.label) || asSeen(option.value), isValue, isLabel };
  });
  const texts = options.map((one) => one.text);
  // The value is what the field holds then: it goes before the label of another option.
  for (const by of ['isValue', 'isLabel'] as const) {
    const fitting = options.map((one) => ({ option: one.option, text: one.text, shows: one[by], isNamed: false }));
    const { match } = meantOption(fitting, wanted, (option) => !option.disabled);
    if (match !== null) return { texts, match };
  }
  return { texts, match: null };
}

/** Puts a value into a field as the browser does when a person picks it. Answers why not, or null. */
export function pick(field: HTMLInputElement, value: string): string | null {
  if (inputKind(field) === 'set') return setValue(field, value);
  field.focus();
  field.value = value;
  const inserted = { inputType: 'insertReplacementText', data: value };
  field.dispatchEvent(new InputEvent('input', { ...inserted, bubbles: true, composed: true }));
  field.dispatchEvent(new Event('change', { bubbles: true }));
  return null;
}
