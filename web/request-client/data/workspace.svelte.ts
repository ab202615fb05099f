import type {
  DocumentView,
  FormChange,
  ImportView,
  RequestForm,
  SentView,
} from '../../../src/protocol/request-window.js';
import { ClientError, call } from './client.js';
import { RequestTab } from './request-tab.svelte.js';
import { placeOf } from './tree-rows.js';

export type Pane = 'import' | 'variables' | 'history';

/** What a dialog asks for; one at a time. */
export type Question =
  | {
      readonly kind: 'file';
      readonly purpose: 'open' | 'save' | 'environment';
      readonly done: (path: string | null) => void;
    }
  | {
      readonly kind: 'choice';
      readonly title: string;
      readonly text: string;
      readonly choices: readonly string[];
      readonly done: (choice: string | null) => void;
    };

/** What this window shows and does; the client behind it holds the document. */
class Workspace {
  document = $state.raw<DocumentView | null>(null);
  tabs = $state.raw<readonly RequestTab[]>([]);
  active = $state<string | null>(null);
  selected = $state<string | null>(null);
  pane = $state<Pane | null>(null);
  question = $state.raw<Question | null>(null);
  /** A line at the bottom; `bad` for what failed. */
  notice = $state.raw<{ readonly text: string; readonly bad: boolean } | null>(null);
  /** The client cannot be worked with: why. */
  broken = $state<string | null>(null);
  #edited = $state(false);

  get tab(): RequestTab | undefined {
    return this.tabs.find(({ id }) => id === this.active);
  }

  get changed(): boolean {
    return this.#edited || this.document?.changed === true;
  }

  get values(): { readonly [name: string]: string } {
    return this.document?.values ?? {};
  }

  async begin(): Promise<void> {
    try {
      this.#take(await call<DocumentView>('GET', 'document'));
    } catch (error) {
      this.broken = error instanceof Error ? error.message : String(error);
    }
  }

  say(text: string, bad = false): void {
    this.notice = { text, bad };
  }

  /** Does something; what goes wrong is said at the bottom. */
  async attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error), true);
      return undefined;
    }
  }

  ask(title: string, text: string, choices: readonly string[]): Promise<string | null> {
    return new Promise((resolve) => {
      this.question = { kind: 'choice', title, text, choices, done: this.#answered(resolve) };
    });
  }

  askFile(purpose: 'open' | 'save' | 'environment'): Promise<string | null> {
    return new Promise((resolve) => {
      this.question = { kind: 'file', purpose, done: this.#answered(resolve) };
    });
  }

  async openTab(id: string): Promise<void> {
    this.selected = id;
    if (!this.tabs.some((tab) => tab.id === id)) {
      const form = await call<RequestForm>('GET', `items/${id}`);
      if (!this.tabs.some((tab) => tab.id === id))
        this.tabs = [...this.tabs, new RequestTab(form, (edit) => this.#heard(id, edit))];
    }
    this.active = id;
  }

  async closeTab(id: string): Promise<void> {
    const tab = this.tabs.find((one) => one.id === id);
    await tab?.flush();
    tab?.cancel();
    const at = this.tabs.findIndex((one) => one.id === id);
    this.tabs = this.tabs.filter((one) => one.id !== id);
    if (this.active === id) this.active = this.tabs[Math.min(at, this.tabs.length - 1)]?.id ?? null;
  }

  async send(): Promise<void> {
    const { tab } = this;
    if (tab === undefined) return;
    await this.attempt(async () => {
      await this.flush();
      await tab.run('send', (values) => this.#setValues(values));
    });
  }

  /** The client knows every edit when this settles. */
  async flush(): Promise<void> {
    await Promise.all(this.tabs.map((tab) => tab.flush()));
    if (!this.#edited) return;
    this.document = await call<DocumentView>('GET', 'document');
    this.#edited = false;
  }

  async addItem(kind: 'folder' | 'request', parent = this.#folderOfSelected()): Promise<string | undefined> {
    return await this.attempt(async () => {
      const name = kind === 'folder' ? 'New folder' : 'New request';
      const { id, document } = await call<{ id: string; document: DocumentView }>('POST', 'items', {
        parent,
        kind,
        name,
      });
      this.document = document;
      this.selected = id;
      if (kind === 'request') await this.openTab(id);
      return id;
    });
  }

  async duplicate(id: string): Promise<void> {
    await this.attempt(async () => {
      await this.flush();
      const made = await call<{ id: string; document: DocumentView }>('POST', `items/${id}/duplicate`);
      this.document = made.document;
      this.selected = made.id;
      if (placeOf(made.document.items, made.id)?.item.method !== null) await this.openTab(made.id);
    });
  }

  async remove(id: string): Promise<void> {
    const found = placeOf(this.document?.items ?? [], id);
    if (found === undefined) return;
    await this.attempt(async () => {
      await this.flush();
      this.document = await call<DocumentView>('DELETE', `items/${id}`);
      this.#dropLostTabs();
      this.say(`Deleted ${found.item.name}; Edit > Undo brings it back`);
    });
  }

  async move(id: string, parent: string | null, index: number): Promise<void> {
    await this.attempt(async () => {
      await this.flush();
      this.document = await call<DocumentView>('POST', `items/${id}/move`, { parent, index });
    });
  }

  async rename(id: string, name: string): Promise<void> {
    const tab = this.tabs.find((one) => one.id === id);
    if (tab !== undefined) tab.edit({ name });
    else this.#heard(id, { name });
    await this.attempt(async () => {
      if (tab === undefined) await call('PATCH', `items/${id}`, { name });
      await this.flush();
    });
  }

  async renameCollection(name: string): Promise<void> {
    await this.attempt(async () => {
      this.document = await call<DocumentView>('POST', 'document/name', { name });
    });
  }

  async undo(): Promise<void> {
    await this.attempt(async () => {
      await this.flush();
      this.document = await call<DocumentView>('POST', 'document/undo');
      this.#dropLostTabs();
      await Promise.all(this.tabs.map((tab) => tab.reload()));
    });
  }

  async importText(text: string): Promise<ImportView | undefined> {
    return await this.attempt(async () => {
      await this.flush();
      const made = await call<ImportView>('POST', 'import', { text, parent: this.#folderOfSelected() });
      this.document = made.document;
      const [first] = made.made;
      if (first !== undefined) await this.openTab(first);
      return made;
    });
  }

  /** Shows an answer of the past in the tab of its request. */
  async openSent(id: string): Promise<void> {
    await this.attempt(async () => {
      const sent = await call<SentView>('GET', `history/${id}`);
      await this.openTab(sent.itemId);
      const { tab } = this;
      if (tab !== undefined) tab.sent = sent;
    });
  }

  async newDocument(): Promise<void> {
    if (!(await this.#mayLeave())) return;
    await this.attempt(async () => this.#take(await call<DocumentView>('POST', 'document/new')));
  }

  async open(): Promise<void> {
    if (!(await this.#mayLeave())) return;
    const path = await this.askFile('open');
    if (path === null) return;
    await this.attempt(async () => this.#take(await call<DocumentView>('POST', 'document/open', { path })));
  }

  /** @returns whether it is saved now */
  async save(as = false): Promise<boolean> {
    await this.attempt(() => this.flush());
    const own = this.document?.file ?? null;
    const path = as || own === null ? await this.askFile('save') : null;
    if (path === null && (as || own === null)) return false;
    return await this.#saveTo(path, false);
  }

  async #saveTo(path: string | null, overwrite: boolean): Promise<boolean> {
    try {
      this.document = await call<DocumentView>('POST', 'document/save', { path, overwrite });
      this.say(`Saved ${this.document.file?.path ?? ''}`);
      return true;
    } catch (error) {
      if (!(error instanceof ClientError) || error.body.details?.changedOnDisk !== true) {
        this.say(error instanceof Error ? error.message : String(error), true);
        return false;
      }
    }
    const title = path === null ? 'The file was changed on disk' : 'There is a file of this name';
    const choice = await this.ask(title, path ?? this.document?.file?.path ?? '', ['Overwrite', 'Cancel']);
    return choice === 'Overwrite' ? await this.#saveTo(path, true) : false;
  }

  /** Looks whether somebody else wrote the file; called when the window gets the focus. */
  async lookAtDisk(): Promise<void> {
    const path = this.document?.file?.path;
    if (path === undefined || this.question !== null) return;
    const { changed } = await call<{ changed: boolean }>('GET', 'document/disk');
    if (!changed) return;
    const lost = this.changed ? ' Your own changes since the last save would be lost.' : '';
    const choice = await this.ask('The file was changed on disk', `${path}.${lost}`, ['Open again', 'Keep mine']);
    if (choice !== 'Open again') return;
    await this.attempt(async () => this.#take(await call<DocumentView>('POST', 'document/open', { path })));
  }

  async quit(): Promise<void> {
    if (!(await this.#mayLeave())) return;
    await this.attempt(async () => {
      this.#edited = false;
      await call('POST', 'quit');
      this.document = null;
      this.broken = 'The client has ended. This window may be closed.';
      window.close();
    });
  }

  async useEnvironment(): Promise<void> {
    const path = await this.askFile('environment');
    if (path === null) return;
    await this.attempt(async () => {
      this.document = await call<DocumentView>('POST', 'environment', { path });
    });
  }

  async closeEnvironment(): Promise<void> {
    await this.attempt(async () => {
      this.document = await call<DocumentView>('DELETE', 'environment');
    });
  }

  async #mayLeave(): Promise<boolean> {
    await this.attempt(() => this.flush());
    if (!this.changed) return true;
    const name = this.document?.file?.name ?? this.document?.name ?? '';
    const choice = await this.ask('Save the changes?', `${name} has changes that are not saved.`, [
      'Save',
      'Don’t save',
      'Cancel',
    ]);
    if (choice === 'Save') return await this.save();
    return choice === 'Don’t save';
  }

  #take(document: DocumentView): void {
    this.document = document;
    this.tabs = [];
    this.active = null;
    this.selected = null;
    this.notice = null;
    this.#edited = false;
  }

  /** The tree shows a new name or method before the client knows of it. */
  #heard(id: string, { name, method }: FormChange): void {
    this.#edited = true;
    if (this.document === null || (name === undefined && method === undefined)) return;
    const items = (list: DocumentView['items']): DocumentView['items'] =>
      list.map((item) => {
        if (item.id === id) return { ...item, name: name ?? item.name, method: method ?? item.method };
        return item.children.length === 0 ? item : { ...item, children: items(item.children) };
      });
    this.document = { ...this.document, items: items(this.document.items) };
  }

  #setValues(values: DocumentView['values']): void {
    if (this.document !== null) this.document = { ...this.document, values };
  }

  #dropLostTabs(): void {
    const items = this.document?.items ?? [];
    this.tabs = this.tabs.filter(({ id }) => placeOf(items, id) !== undefined);
    if (!this.tabs.some(({ id }) => id === this.active)) this.active = this.tabs.at(-1)?.id ?? null;
  }

  #folderOfSelected(): string | null {
    const found = this.selected === null ? undefined : placeOf(this.document?.items ?? [], this.selected);
    if (found === undefined) return null;
    return found.item.method === null ? found.item.id : found.parent;
  }

  #answered<T>(resolve: (value: T) => void): (value: T) => void {
    return (value) => {
      this.question = null;
      resolve(value);
    };
  }
}

export const workspace = new Workspace();
