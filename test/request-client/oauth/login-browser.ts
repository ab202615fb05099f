import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./login-browser.entry.mjs', import.meta.url));

/** What a user would set as BROWSER: a command that keeps cookies and follows redirects as browsers do. */
export const LOGIN_BROWSER = `${process.execPath} ${script} %s`;
