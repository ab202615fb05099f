import { assertNever } from '#troupe/base/assert-never.js';
import { exportCurl } from '../../curl/export/export-curl.js';
import { writtenRequest } from '../../curl/export/written-request.js';
import type { Collection } from '../../engine/collection/collection.js';
import { requestsBelow } from '../../engine/collection-run/collection-runner.js';
import type { ExportFormat } from '../../protocol/request-exports.js';
import { Findings } from '../imports/findings.js';
import { exportBruno } from './export-bruno.js';
import { exportHar } from './export-har.js';
import { exportInsomnia } from './export-insomnia.js';

/** The text of a file for another tool, and what it does not contain. */
export interface Exported {
  readonly text: string;
  readonly warnings: readonly string[];
}

/** A collection for another tool. Secrets that it contains are part of the text. */
export function exportCollection(collection: Collection, format: ExportFormat): Exported {
  const findings = new Findings();
  const text = written(collection, format, findings);
  return { text, warnings: findings.warnings.map(({ message }) => message) };
}

function written(collection: Collection, format: ExportFormat, findings: Findings): string {
  switch (format) {
    case 'har':
      return exportHar(collection, findings);
    case 'insomnia':
      return exportInsomnia(collection, findings);
    case 'bruno':
      return exportBruno(collection, findings);
    case 'curl':
      return curlCommands(collection, findings);
    default:
      return assertNever(format);
  }
}

function curlCommands(collection: Collection, findings: Findings): string {
  const commands = collection.items.flatMap(requestsBelow).map((node) => {
    const { request, warnings } = writtenRequest(collection, node);
    const made = exportCurl(request, 'posix');
    for (const warning of [...warnings, ...made.warnings]) findings.warn(node.name, 'curl', warning);
    return `# ${node.name.replace(/[\r\n]+/g, ' ')}\n${made.command}\n`;
  });
  return commands.join('\n');
}
