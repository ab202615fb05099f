import { CollectionFile } from '../../request-client/collection/collection-file.js';
import { TextFile } from '../../request-client/collection/text-file.js';
import { collectionPage } from '../../request-client/exports/collection-page.js';
import { UsageError } from '../failure.js';
import { parseWords } from '../parse-options.js';

/**
 * Writes the documentation of a collection as one HTML page, to standard output or a file that does not exist yet.
 *
 * @returns 0
 */
export async function runRequestsDocs(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, { out: { type: 'string' } });
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) throw new UsageError('requests docs takes one collection');
  const { collection } = await CollectionFile.open(file);
  const page = collectionPage(collection);
  if (values.out === undefined) process.stdout.write(page);
  else await TextFile.create(values.out).write(page);
  return 0;
}
