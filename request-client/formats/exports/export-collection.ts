import { assertNever } from '#troupe/base/assert-never.js';
import { exportCurl } from '../../curl/export/export-curl.js';
import { writtenRequest } from '../../curl/export/written-request.js';
import { authAt } from '../../engine/collection/auth.js';
import { behaviourAt } from '../../engine/collection/behaviour.js';
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
  warnOfSettings(collection, findings);
  return { text, warnings: findings.warnings.map(({ message }) => message) };
}

/** No format has a place for these. */
const ONLY_POSTMAN = [
  'maxRedirects',
  'followOriginalHttpMethod',
  'followAuthorizationHeader',
  'removeRefererHeaderOnRedirect',
];

function warnOfSettings(collection: Collection, findings: Findings): void {
  for (const { path, name } of collection.items.flatMap(requestsBelow)) {
    const behaviour = behaviourAt(collection, path);
    for (const one of ONLY_POSTMAN.filter((own) => Object.hasOwn(behaviour, own))) {
      findings.warn(name, one, `${one} is not exported`);
    }
    const auth = authAt(collection, path);
    if (auth.kind !== 'oauth2' || auth.parameters.length === 0) continue;
    findings.warn(name, 'OAuth 2.0', 'Parameters of your own for the requests of OAuth 2.0 are not exported');
  }
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
