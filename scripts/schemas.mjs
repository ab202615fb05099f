// Writes the published JSON schemas into schemas/, from src/protocol: `npm run build && npm run schemas`.
import { mkdir, writeFile } from 'node:fs/promises';
import { publishedSchemas } from '../dist/gateway/openapi/published-schemas.js';

const folder = new URL('../schemas/', import.meta.url);
await mkdir(folder, { recursive: true });
for (const [file, schema] of Object.entries(publishedSchemas())) {
  await writeFile(new URL(file, folder), `${JSON.stringify(schema, null, 2)}\n`);
}
