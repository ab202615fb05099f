import {
  COLLECTION_ID,
  type DocumentView,
  type GroupForm,
  type ImportView,
  type RequestForm,
  type ScopeValues,
  type SentView,
  type ValuesByName,
  type WindowSizes,
  type WindowView,
} from '../../protocol/request-window.js';
import { call } from './client.js';
import { dialogs } from './dialogs.svelte.js';
import { GroupTab } from './group-tab.svelte.js';
import { RequestTab } from './request-tab.svelte.js';
import { RunTab } from './run-tab.svelte.js';
import { placeOf } from './tree-rows.js';
import { learnDynamic } from './variables.js';

export type Pane = 'import' | 'variables' | 'history' | 'curl' | 'cookies' | 'settings';
export type Tab = RequestTab | GroupTab | RunTab;

/** The document as this window shows it, with its open tabs; the client process keeps the document. */
class Workspace {
  #document = $state.raw<DocumentView | null>(null);
  /** The revision of the newest view that came from the client. */
  #received = 0;
  tabs = $state.raw<readonly Tab[]>([]);
  active = $state<string | null>(null);
  /** The line of the tree. */
  selected = $state<string | null>(null);
  pane = $state<Pane | null>(null);
  /** Recent files and sizes, as they were at the start or are now. */
  window = $state.raw<WindowView>({ recent: [], sizes: null });
  /** Why the client cannot be used; null if it can. */
  broken = $state<string | null>(null);
  #edited = $state(false);
  /** Raised by whatever opens a tab: a form that comes after a later one opens no tab in its place. */
  #turn = 0;
  /** The first turn of the open document. */
  #firstTurn = 0;

  get document(): DocumentView | null {
    return this.#document;
  }

  /** Concurrent answers arrive in any order: an older view changes nothing, and newer values are kept. */
  set document(document: DocumentView | null) {
    const { revision } = document?.values ?? { revision: this.#received };
    if (revision < this.#received) return;
    this.#received = revision;
    const values = this.#document?.values;
    const newer = document !== null && values !== undefined && values.revision > revision;
    this.#document = newer ? { ...document, values } : document;
  }

  get tab(): Tab | undefined {
    return this.tabs.find(({ id }) => id === this.active);
  }

  /** Something differs from the files. */
  get changed(): boolean {
    return (
      this.#edited ||
      this.document?.changed === true ||
      this.document?.environments.some(({ changed }) => changed) === true
    );
  }

  /** The variables for an item with these folder variables. */
  valuesIn(folderValues: ValuesByName): ValuesByName {
    return { ...this.document?.values.base, ...folderValues, ...this.document?.values.over };
  }

  async begin(): Promise<void> {
    try {
      this.window = await call<WindowView>('GET', 'window');
      learnDynamic(await call<readonly string[]>('GET', 'dynamic-variables'));
      this.take(await call<DocumentView>('GET', 'document'));
    } catch (error) {
      this.broken = error instanceof Error ? error.message : String(error);
    }
  }

  /** Keeps sizes for the next start. */
  async resize(sizes: WindowSizes): Promise<void> {
    this.window = await call<WindowView>('PUT', 'window/sizes', sizes);
  }

  /** Updates the recent files. */
  async lookAtRecent(): Promise<void> {
    this.window = await call<WindowView>('GET', 'window');
  }

  /** Replaces the open document. */
  take(document: DocumentView): void {
    for (const tab of this.tabs) tab.cancel();
    this.document = document;
    this.#turn += 1;
    this.#firstTurn = this.#turn;
    this.tabs = [];
    this.active = null;
    this.selected = null;
    dialogs.notice = null;
    if (document.restored) dialogs.say('Changes that were not saved are restored; Edit > Undo returns to the file');
    this.#edited = false;
  }

  async openRequest(id: string): Promise<RequestTab | undefined> {
    this.selected = id;
    if (!this.#activate(id)) {
      const turn = this.#turn;
      const form = await call<RequestForm>('GET', `items/${id}`);
      this.#add(new RequestTab(form, (edit) => this.#applyEdit(id, edit)), turn);
    }
    const tab = this.tabs.find((one) => one.id === id);
    return tab?.kind === 'request' ? tab : undefined;
  }

  /** Opens the authorization, scripts and variables of a folder; by default those of the collection. */
  async openGroup(id: string = COLLECTION_ID): Promise<void> {
    if (id !== COLLECTION_ID) this.selected = id;
    if (this.#activate(id)) return;
    const turn = this.#turn;
    const form = await call<GroupForm>('GET', `groups/${id}`);
    this.#add(new GroupTab(form, (edit) => this.#applyEdit(id, edit)), turn);
  }

  openRun(id: string = COLLECTION_ID): void {
    if (this.#activate(`run:${id}`)) return;
    const found = placeOf(this.document?.items ?? [], id);
    this.#add(new RunTab(id, found?.item.name ?? this.document?.name ?? ''));
  }

  /** Activates an open tab, and selects its line of the tree. */
  choose(tab: Tab): void {
    this.#turn += 1;
    if (tab.kind !== 'run') this.selected = tab.id;
    this.#show(tab.id);
  }

  async closeTab(id: string): Promise<void> {
    const tab = this.tabs.find((one) => one.id === id);
    if (tab?.kind !== 'run') await tab?.flush();
    tab?.cancel();
    const at = this.tabs.findIndex((one) => one.id === id);
    this.tabs = this.tabs.filter((one) => one.id !== id);
    if (this.active === id) this.active = this.tabs[Math.min(at, this.tabs.length - 1)]?.id ?? null;
  }

  /** Sends the active request, or runs the folder; does nothing if that is already running. */
  async send(): Promise<void> {
    const { tab } = this;
    if (tab === undefined || tab.kind === 'group') return;
    await dialogs.attempt(async () => {
      await this.flush();
      if (tab.kind === 'request') await tab.send((values) => this.#setValues(values));
      else await tab.run((values) => this.#setValues(values));
    });
  }

  /** Settles when the client has every edit. */
  async flush(): Promise<void> {
    await Promise.all(this.tabs.map((tab) => (tab.kind === 'run' ? null : tab.flush())));
    if (!this.#edited) return;
    this.document = await call<DocumentView>('GET', 'document');
    this.#edited = false;
  }

  /** Changes the document, whose new view is the answer. */
  async change(work: () => Promise<DocumentView>): Promise<void> {
    await dialogs.attempt(async () => {
      await this.flush();
      this.document = await work();
    });
  }

  async addItem(kind: 'folder' | 'request', parent = this.folderOfSelected): Promise<string | undefined> {
    return await dialogs.attempt(async () => {
      await this.flush();
      const name = kind === 'folder' ? 'New folder' : 'New request';
      const made = await call<{ id: string; document: DocumentView }>('POST', 'items', { parent, kind, name });
      this.document = made.document;
      this.selected = made.id;
      if (kind === 'request') await this.openRequest(made.id);
      return made.id;
    });
  }

  async duplicate(id: string): Promise<void> {
    await dialogs.attempt(async () => {
      await this.flush();
      const made = await call<{ id: string; document: DocumentView }>('POST', `items/${id}/duplicate`);
      this.document = made.document;
      this.selected = made.id;
      if (placeOf(made.document.items, made.id)?.item.method !== null) await this.openRequest(made.id);
    });
  }

  async remove(id: string): Promise<void> {
    const found = placeOf(this.document?.items ?? [], id);
    if (found === undefined) return;
    await this.change(() => call<DocumentView>('DELETE', `items/${id}`));
    this.#dropLostTabs();
    dialogs.say(`Deleted ${found.item.name}; Edit > Undo restores it`);
  }

  async move(id: string, parent: string | null, index: number): Promise<void> {
    await this.change(() => call<DocumentView>('POST', `items/${id}/move`, { parent, index }));
    await this.reloadForms();
  }

  /** @param id of a request, a folder, or the collection */
  async rename(id: string, name: string): Promise<void> {
    const tab = this.tabs.find((one) => one.id === id);
    const isRequest = placeOf(this.document?.items ?? [], id)?.item.method != null;
    await dialogs.attempt(async () => {
      if (tab !== undefined && tab.kind !== 'run') tab.edit({ name });
      else {
        this.#applyEdit(id, { name });
        await call('PATCH', `${isRequest ? 'items' : 'groups'}/${id}`, { name });
      }
      await this.flush();
    });
  }

  async undo(): Promise<void> {
    await this.change(() => call<DocumentView>('POST', 'document/undo'));
    this.#dropLostTabs();
    await this.reloadForms();
  }

  /** Reloads the forms: what they inherit may have changed. */
  async reloadForms(): Promise<void> {
    await dialogs.attempt(async () => {
      await this.flush();
      await Promise.all(this.tabs.map((tab) => (tab.kind === 'run' ? null : tab.reload())));
    });
  }

  /** Adds what is imported to the folder that is selected itself, or else to the collection. */
  async importText(text: string): Promise<ImportView | undefined> {
    return await dialogs.attempt(async () => {
      await this.flush();
      const parent = this.isFolder(this.selected) ? this.selected : null;
      const made = await call<ImportView>('POST', 'import', { text, parent });
      this.document = made.document;
      const [first] = made.made;
      if (first !== undefined) await this.openRequest(first);
      return made;
    });
  }

  /** Shows an earlier answer in the tab of its request. */
  async openSent(id: string): Promise<void> {
    await dialogs.attempt(async () => {
      const sent = await call<SentView>('GET', `history/${id}`);
      const tab = await this.openRequest(sent.itemId);
      tab?.show(sent);
    });
  }

  /** Whether this is the id of a folder. */
  isFolder(id: string | null): boolean {
    return id !== null && placeOf(this.document?.items ?? [], id)?.item.method === null;
  }

  /** Where new items go: the folder of the selected line. */
  get folderOfSelected(): string | null {
    const found = this.selected === null ? undefined : placeOf(this.document?.items ?? [], this.selected);
    if (found === undefined) return null;
    return found.item.method === null ? found.item.id : found.parent;
  }

  #activate(id: string): boolean {
    this.#turn += 1;
    if (!this.tabs.some((tab) => tab.id === id)) return false;
    this.#show(id);
    return true;
  }

  /** @param turn when the tab was asked for; it is not shown if another one was opened since */
  #add(tab: Tab, turn: number = this.#turn): void {
    // Of a document that is no longer open.
    if (turn < this.#firstTurn) return;
    if (!this.tabs.some(({ id }) => id === tab.id)) this.tabs = [...this.tabs, tab];
    if (turn === this.#turn) this.#show(tab.id);
  }

  #show(id: string): void {
    const left = this.tab;
    this.active = id;
    // Requests inherit from the edited folder.
    if (left?.kind === 'group' && left.id !== id) void this.reloadForms();
  }

  /** The tree shows a new name or method before the client has it. */
  #applyEdit(
    id: string,
    { name, method }: { readonly name?: string | undefined; readonly method?: string | undefined },
  ): void {
    this.#edited = true;
    if (this.document === null || (name === undefined && method === undefined)) return;
    if (id === COLLECTION_ID) {
      this.#document = { ...this.document, name: name ?? this.document.name };
      return;
    }
    const items = (list: DocumentView['items']): DocumentView['items'] =>
      list.map((item) => {
        if (item.id === id) return { ...item, name: name ?? item.name, method: method ?? item.method };
        return item.children.length === 0 ? item : { ...item, children: items(item.children) };
      });
    this.#document = { ...this.document, items: items(this.document.items) };
  }

  #setValues(values: ScopeValues): void {
    if (this.document !== null) this.#document = { ...this.document, values };
  }

  #dropLostTabs(): void {
    const items = this.document?.items ?? [];
    const itemOf = (tab: Tab): string => (tab.kind === 'run' ? tab.itemId : tab.id);
    this.tabs = this.tabs.filter((tab) => itemOf(tab) === COLLECTION_ID || placeOf(items, itemOf(tab)) !== undefined);
    if (!this.tabs.some(({ id }) => id === this.active)) this.active = this.tabs.at(-1)?.id ?? null;
  }
}

export const workspace = new Workspace();
