import type { ImportView } from '../../protocol/request-window.js';
import { dialogs } from './dialogs.svelte.js';
import { workspace } from './workspace.svelte.js';

/** Larger files are refused before they are read. */
const MAX_FILE_BYTES = 48 * 1024 * 1024;
/** The beginnings of texts that are imported if they are pasted where nothing is edited, or into the address. */
const IMPORTABLE =
  /(?:^|\n)\s*(?:\$\s+)?(?:curl(?:\.exe)?\s|(?:await\s+)?fetch\s*\(|\{(?!\{)|\[\s*\{|openapi\s*:|swagger\s*:|type\s*:\s*\S*insomnia\.rest|(?:meta|get|post|put|patch|delete|vars)\s*\{\s*(?:\n|$))/;

/** The Import pane: its text, and the result of the last import. Imports are also pasted and dropped elsewhere. */
class Imports {
  text = $state('');
  busy = $state(false);
  made = $state.raw<ImportView | null>(null);
  #running: Promise<void> = Promise.resolve();

  async run(): Promise<void> {
    if (this.text.trim() === '' || this.busy) return;
    this.busy = true;
    this.#running = this.#run();
    await this.#running;
  }

  async #run(): Promise<void> {
    const result = await workspace.importText(this.text);
    this.busy = false;
    if (result === undefined) return;
    this.made = result;
    // Only what failed stays, to be corrected: the rest would be imported twice.
    this.text = result.failed;
  }

  /** Imports a text from elsewhere in the window, after one that is being imported, and shows the result in the pane. */
  async take(text: string): Promise<void> {
    while (this.busy) await this.#running;
    workspace.pane = 'import';
    this.text = text;
    await this.run();
  }

  async takeFiles(files: readonly File[]): Promise<void> {
    for (const file of files) {
      if (file.size > MAX_FILE_BYTES) {
        dialogs.say(`${file.name} is larger than 48 MB and is not imported`, true);
        continue;
      }
      const text = await dialogs.attempt(() => file.text());
      if (text !== undefined) await this.take(text);
      if (this.text !== '') return;
    }
  }

  /** Imports what is pasted, if it is something that can be imported; an address or a value is not. */
  onPaste(event: ClipboardEvent): void {
    const files = [...(event.clipboardData?.files ?? [])];
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (files.length === 0 && !IMPORTABLE.test(text)) return;
    event.preventDefault();
    if (files.length > 0) void this.takeFiles(files);
    else void this.take(text);
  }
}

export const imports = new Imports();
