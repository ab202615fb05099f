import { plainLine } from '#troupe/base/plain-text.js';
import { REQUESTS_EXPORT } from '#troupe/terminal/commands/requests-commands.js';
import { UsageError } from '#troupe/terminal/failure.js';
import { printData, printError } from '#troupe/terminal/output.js';
import { checkWords, parseWords } from '#troupe/terminal/parse-options.js';
import { CollectionFile } from '../engine/collection/collection-file.js';
import { TextFile } from '../engine/collection/text-file.js';
import { exportCollection } from '../formats/exports/export-collection.js';
import { ExportFormat } from '../protocol/request-exports.js';

/**
 * Writes a collection for another tool, to standard output or a file that does not exist yet. What the other format has
 * no place for is named on standard error.
 *
 * @returns 0
 */
export async function runRequestsExport(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, REQUESTS_EXPORT);
  checkWords(positionals, ['COLLECTION.json']);
  const [file = ''] = positionals;
  const format = ExportFormat.safeParse(values.to);
  if (!format.success) throw new UsageError(`--to takes ${ExportFormat.options.join(', ')}`);
  const { collection } = await CollectionFile.open(file);
  const { text, warnings } = exportCollection(collection, format.data);
  for (const warning of warnings) printError(`${plainLine(`warning: ${warning}`)}\n`);
  if (values.out === undefined) printData(text);
  else await TextFile.create(values.out).write(text);
  return 0;
}
