import type { GroupChange, GroupForm } from '../../protocol/request-window.js';
import { FormTab } from './form-tab.svelte.js';

export type GroupPart = 'auth' | 'before' | 'after' | 'variables';

/** A folder, or the collection, in a tab: its settings for all requests in it. */
export class GroupTab extends FormTab<GroupForm, GroupChange> {
  readonly kind = 'group';
  part = $state<GroupPart>('auth');

  constructor(form: GroupForm, changed: (edit: GroupChange) => void) {
    super('groups', form, changed);
  }
}
