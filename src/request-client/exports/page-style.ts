/** The styles of a collection's documentation: light, dark, and printed. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --line: light-dark(#dfe1e8, #2c303b); --quiet: light-dark(#555a69, #a3a8b8);
  --page: light-dark(#f5f6f8, #111318); --raised: light-dark(#fff, #191c23); --text: light-dark(#171923, #e8eaf1);
  --accent: light-dark(#4338ca, #a5b4fc); --mono: ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
* { box-sizing: border-box; }
body { display: grid; grid-template-columns: minmax(12rem, 18rem) minmax(0, 1fr); margin: 0; background: var(--page);
  color: var(--text); font: 15px/1.55 system-ui, sans-serif; }
nav { position: sticky; top: 0; height: 100vh; padding: 16px 12px; overflow: auto; border-right: 1px solid var(--line);
  font-size: 13px; }
nav ul { margin: 0; padding: 0 0 0 10px; list-style: none; }
nav > ul { padding: 0; }
nav a { display: block; padding: 2px 4px; color: inherit; overflow-wrap: anywhere; text-decoration: none; }
nav a:hover { text-decoration: underline; }
main { padding: 16px 32px 64px; background: var(--raised); min-height: 100vh; }
main > * { max-width: 56rem; }
h1, h2, h3, h4, h5 { line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin-top: 40px; padding-bottom: 6px; border-bottom: 1px solid var(--line); }
.label, caption { margin: 16px 0 4px; padding: 0; color: var(--quiet); font-weight: 600; font-size: 13px; text-align: left; }
table { margin-top: 16px; }
.request { margin-top: 32px; }
a { color: var(--accent); }
pre, code { font: 13px/1.5 var(--mono); }
pre { padding: 10px 12px; overflow: auto; border: 1px solid var(--line); border-radius: 6px; background: var(--page); }
.url { white-space: pre-wrap; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; font-size: 14px; }
th, td { padding: 4px 8px; border: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th { width: 30%; font: 600 13px/1.5 var(--mono); }
td p { margin: 0; }
.auth, .status, small { color: var(--quiet); }
summary { padding: 4px 0; cursor: pointer; }
details { margin-top: 12px; }
img { max-width: 100%; }
.method { font: 600 12px/1 var(--mono); }
.GET, .HEAD, .OPTIONS { color: light-dark(#166534, #86efac); }
.POST { color: light-dark(#854d0e, #fcd980); }
.PUT, .PATCH { color: light-dark(#1d4ed8, #93c5fd); }
.DELETE { color: light-dark(#b91c1c, #fca5a5); }
@media (max-width: 799px) { body { display: block; } nav { position: static; height: auto; border: 0; }
  main { padding: 8px 16px 48px; } }
@media print { body { display: block; } nav { display: none; } }
`;
