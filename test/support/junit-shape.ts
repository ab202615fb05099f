import { readFileSync } from 'node:fs';
import { validateXML } from 'xmllint-wasm';

const shape = readFileSync(new URL('../report/junit-shape.xsd', import.meta.url), 'utf8');

/** What readers of JUnit files would refuse in this one, line by line; nothing where it is well-formed and has their shape. */
export async function junitFaults(file: string): Promise<readonly string[]> {
  const xml = { fileName: 'report.junit.xml', contents: readFileSync(file, 'utf8') };
  const { valid, errors, rawOutput } = await validateXML({ xml, schema: shape });
  if (valid) return [];
  return errors.length > 0 ? errors.map(({ rawMessage }) => rawMessage) : [rawOutput];
}
