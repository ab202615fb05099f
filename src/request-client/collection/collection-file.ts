import { Collection } from './collection.js';
import { TextFile } from './text-file.js';

/** A collection and the file that it was read from, or is to be written to. */
export class CollectionFile {
  collection: Collection;
  readonly #file: TextFile;

  private constructor(file: TextFile, collection: Collection) {
    this.#file = file;
    this.collection = collection;
  }

  /** @throws NOT_FOUND, or INVALID_REQUEST where the file is no collection */
  static async open(path: string): Promise<CollectionFile> {
    const { file, text } = await TextFile.open(path);
    return new CollectionFile(file, Collection.parse(text));
  }

  /** Nothing is written before {@link save}. */
  static create(path: string, collection: Collection): CollectionFile {
    return new CollectionFile(TextFile.create(path), collection);
  }

  get path(): string {
    return this.#file.path;
  }

  /** As {@link TextFile.changedOnDisk}. */
  async changedOnDisk(): Promise<boolean> {
    return await this.#file.changedOnDisk();
  }

  /** @throws what {@link TextFile.write} does */
  async save({ overwrite = false } = {}): Promise<void> {
    await this.#file.write(this.collection.text, { overwrite });
  }
}
