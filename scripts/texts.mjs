// Writes the list of all texts that people read, `test/texts.txt`: npm run texts. `npm run check` holds their words.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openRepository } from './check/repository.mjs';
import { TEXTS, textsByFile, writtenTexts } from './check/texts.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const listed = textsByFile(openRepository(root));
writeFileSync(join(root, TEXTS), writtenTexts(listed));
console.log(`${TEXTS}: ${listed.reduce((sum, [, all]) => sum + all.length, 0)} texts of ${listed.length} files`);
