import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { TroupeError } from '#troupe/protocol/errors.js';
import { Environment } from '../engine/collection/environment.js';
import { TextFile } from '../engine/collection/text-file.js';
import type { ImportedEnvironment } from '../formats/imports/imported.js';
import type { EnvironmentLine, EnvironmentRow, EnvironmentView } from '../protocol/request-window.js';
import { type Drafts, digestOf } from './drafts.js';

interface OpenEnvironment {
  readonly id: string;
  readonly file: TextFile;
  environment: Environment;
  /** The text of the file. */
  saved: string;
}

/** Open environments; more are rejected. */
const MAX_OPEN = 100;

/** The open environments of the window; at most one is active. Errors: NOT_FOUND for one that is not open. */
export class Environments {
  #open: readonly OpenEnvironment[] = [];
  #active: OpenEnvironment | null = null;
  #count = 0;
  readonly #drafts: Drafts;

  constructor(drafts: Drafts) {
    this.#drafts = drafts;
  }

  get lines(): EnvironmentLine[] {
    return this.#open.map(({ id, file, environment, saved }) => ({
      id,
      name: environment.name(file.path),
      path: file.path,
      changed: environment.text !== saved,
    }));
  }

  get active(): EnvironmentView | null {
    const { id, environment } = this.#active ?? {};
    return id === undefined || environment === undefined
      ? null
      : { id, plain: environment.plain, rows: environment.rows };
  }

  /** The values of the active one. */
  get values(): Map<string, string> {
    return this.#active?.environment.values ?? new Map();
  }

  /** The secret values of all open environments. */
  get secrets(): string[] {
    return this.#open.flatMap(({ environment }) =>
      environment.rows.filter(({ secret }) => secret).map(({ value }) => value),
    );
  }

  /**
   * Opens a file and makes it active; for an open one it only does the latter.
   * @throws NOT_FOUND, or INVALID_REQUEST if the file is not an environment
   */
  async open(path: string): Promise<void> {
    this.#active = await this.#opened(resolve(path));
  }

  /** Opens the files in a folder with Postman's name for environments. Unreadable ones are skipped. */
  async openBeside(folder: string): Promise<void> {
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter((one) => /\.postman_environment\.json$/i.test(one)).sort()) {
      await this.#opened(join(folder, name)).catch(() => null);
    }
  }

  /** @throws INVALID_REQUEST with `details.changedOnDisk` if the file exists */
  async create(path: string): Promise<void> {
    const name = basename(path).replace(/(?:\.postman_environment)?\.json$/i, '');
    const environment = Environment.create(name, randomUUID());
    const file = TextFile.create(resolve(path));
    await file.write(environment.text);
    this.#active = this.#add(file, environment);
  }

  /**
   * Adds imported environments, to be saved in `folder`; nothing is written before that. The first becomes active if
   * there is no active one.
   */
  addImported(environments: readonly ImportedEnvironment[], folder: string): void {
    for (const { name, rows } of environments) {
      const made = Environment.create(name, randomUUID());
      const file = TextFile.create(join(folder, `${fileName(name)}.postman_environment.json`));
      const added = this.#add(file, made.withRows(rows), '');
      this.#active ??= added;
    }
  }

  choose(id: string | null): void {
    this.#active = id === null ? null : this.#find(id);
  }

  edit(id: string, rows: readonly EnvironmentRow[]): void {
    const found = this.#find(id);
    found.environment = found.environment.withRows(rows);
    const { text } = found.environment;
    this.#drafts.keep(found.file.path, text === found.saved ? null : { text, base: digestOf(found.saved) });
  }

  /** @throws what {@link TextFile.write} throws */
  async save(id: string, overwrite: boolean): Promise<void> {
    const found = this.#find(id);
    const { text } = found.environment;
    await found.file.write(text, { overwrite });
    found.saved = text;
    if (found.environment.text === text) this.#drafts.keep(found.file.path, null);
  }

  /** Unsaved changes are lost. */
  close(id: string): void {
    const found = this.#find(id);
    this.#drafts.keep(found.file.path, null);
    this.#open = this.#open.filter((one) => one !== found);
    if (this.#active === found) this.#active = null;
  }

  async #opened(path: string): Promise<OpenEnvironment> {
    const known = this.#open.find(({ file }) => file.path === path);
    if (known !== undefined) return known;
    const { file, text } = await TextFile.open(path);
    const environment = Environment.parse(text);
    const draft = await this.#drafts.find(path);
    if (draft === null) return this.#add(file, environment);
    // As the user left it; saving asks if the file was changed since.
    file.expect(draft.base);
    return this.#add(file, Environment.parse(draft.text), text);
  }

  #add(file: TextFile, environment: Environment, saved = environment.text): OpenEnvironment {
    if (this.#open.length >= MAX_OPEN)
      throw new TroupeError('INVALID_REQUEST', `${MAX_OPEN} environments are open already; close some`);
    this.#count += 1;
    const made = { id: `e${this.#count}`, file, environment, saved };
    this.#open = [...this.#open, made];
    return made;
  }

  #find(id: string): OpenEnvironment {
    const found = this.#open.find((one) => one.id === id);
    if (found === undefined) throw new TroupeError('NOT_FOUND', 'This environment is no longer open');
    return found;
  }
}

/** The name of an environment without what file names cannot contain. */
export function fileName(name: string): string {
  return (
    name
      .replace(/[\\/:*?"<>|\p{Cc}]+/gu, '-')
      .replace(/^\.+/, '')
      .slice(0, 100) || 'environment'
  );
}
