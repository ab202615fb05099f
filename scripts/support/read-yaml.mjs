import { createRequire } from 'node:module';

/** The documents of a YAML text, as values. @throws what is wrong with the first that is not YAML */
export function readYaml(text) {
  // Of what building takes: a program that only reads manifests needs no other copy.
  const { parseAllDocuments } = createRequire(new URL('../../web/package.json', import.meta.url))('yaml');
  return parseAllDocuments(text, { merge: true }).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS();
  });
}
