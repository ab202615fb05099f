import { Collection } from './collection.js';
import { TextFile } from './text-file.js';

/** A collection and its file. */
export class CollectionFile {
  collection: Collection;
  readonly #file: TextFile;

  private constructor(file: TextFile, collection: Collection) {
    this.#file = file;
    this.collection = collection;
  }

  /** @throws NOT_FOUND, or INVALID_REQUEST if the file is not a collection */
  static async open(path: string): Promise<CollectionFile> {
    const { file, text } = await TextFile.open(path);
    return new CollectionFile(file, Collection.parse(text));
  }

  /** Writes nothing before {@link save}. */
  static create(path: string, collection: Collection): CollectionFile {
    return new CollectionFile(TextFile.create(path), collection);
  }

  get path(): string {
    return this.#file.path;
  }

  /** See {@link TextFile.expect}. */
  expect(digest: string): void {
    this.#file.expect(digest);
  }

  /** See {@link TextFile.changedOnDisk}. */
  async changedOnDisk(): Promise<boolean> {
    return await this.#file.changedOnDisk();
  }

  /** @throws what {@link TextFile.write} throws */
  async save({ overwrite = false } = {}): Promise<void> {
    await this.#file.write(this.collection.text, { overwrite });
  }
}
