import { z } from 'zod';

/** The languages for which code is written, as people read them. */
export const CODE_LANGUAGES = {
  javascript: 'JavaScript (fetch)',
  node: 'Node.js (axios)',
  python: 'Python (requests)',
  go: 'Go',
  java: 'Java (OkHttp)',
  kotlin: 'Kotlin (OkHttp)',
  csharp: 'C# (HttpClient)',
  php: 'PHP (curl)',
  ruby: 'Ruby (net/http)',
  rust: 'Rust (reqwest)',
  swift: 'Swift (URLSession)',
  c: 'C (libcurl)',
} as const;
export const CodeLanguage = z.enum([
  'javascript',
  'node',
  'python',
  'go',
  'java',
  'kotlin',
  'csharp',
  'php',
  'ruby',
  'rust',
  'swift',
  'c',
]);
export type CodeLanguage = z.infer<typeof CodeLanguage>;
/** How a request is written as code. */
export const CodeOptions = z.strictObject({ language: CodeLanguage, values: z.boolean() });
export type CodeOptions = z.infer<typeof CodeOptions>;
/** The files that other tools open. */
export const ExportFormat = z.enum(['har', 'insomnia', 'bruno', 'curl']);
export type ExportFormat = z.infer<typeof ExportFormat>;
export const ExportFile = z.strictObject({ format: ExportFormat, path: z.string().min(1), overwrite: z.boolean() });
/** The result of an export: what the file does not contain. */
export interface ExportView {
  readonly path: string;
  readonly warnings: readonly string[];
}
