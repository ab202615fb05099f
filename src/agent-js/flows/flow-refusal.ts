import { TroupeError } from '../../protocol/errors.js';
import { flowRefusal, flowSyntax } from '../../script/source/source-step.js';
import { flowCode } from './read-flow.js';

/**
 * Why a file is no flow, although it may be well-formed: it has types alone, or does not say which of its functions is the
 * flow. Null if it can be run; also if it does not parse, which its run reports.
 * @param file its name: `.ts` is TypeScript
 * @returns SCRIPT_ERROR with line and column
 */
export function whyNoFlow(file: string, source: string): TroupeError | null {
  if (isTypesAlone(file, source)) {
    return new TroupeError('SCRIPT_ERROR', 'It has only types; it is not a flow', { line: 1, column: 1 });
  }
  try {
    return flowRefusal(flowCode(file, source));
  } catch {
    return null;
  }
}

/** Whether a TypeScript file declares types and nothing that runs: other files use it. */
export function isTypesAlone(file: string, source: string): boolean {
  if (!file.endsWith('.ts') || !/\b(?:interface|type|declare)\b/.test(source)) return false;
  try {
    const code = flowCode(file, source);
    return code !== source && flowSyntax(code).body.every(isEmpty);
  } catch {
    return false;
  }
}

function isEmpty(statement: ReturnType<typeof flowSyntax>['body'][number]): boolean {
  if (statement.type === 'EmptyStatement') return true;
  return (
    statement.type === 'ExportNamedDeclaration' && statement.declaration == null && statement.specifiers.length === 0
  );
}
