import type { GroupChange, GroupForm } from '../../../src/protocol/request-window.js';
import { FormTab } from './form-tab.svelte.js';

export type GroupPart = 'auth' | 'before' | 'after' | 'variables';

/** A folder, or the collection, that is open in a tab: what it says for all that is in it. */
export class GroupTab extends FormTab<GroupForm, GroupChange> {
  readonly kind = 'group';
  part = $state<GroupPart>('auth');

  constructor(form: GroupForm, changed: (edit: GroupChange) => void) {
    super('groups', form, changed);
  }
}
