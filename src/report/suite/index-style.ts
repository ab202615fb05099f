import { createHash } from 'node:crypto';
import { STYLE } from '../html/html-style.js';

/** What the index adds to the style of report.html. */
const OWN = `
.filter{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin:22px 0 12px;position:sticky;top:0;z-index:1;
background:var(--page);padding:8px 0}
.filter[hidden]{display:none}
.filter input{flex:1 1 200px;min-width:0;font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);
border-radius:8px;padding:7px 12px}
.filter .states{display:flex;flex-wrap:wrap;gap:6px}
.filter button{font:inherit;font-size:13px;color:var(--text);background:var(--card);border:1px solid var(--line);
border-radius:999px;padding:5px 12px;cursor:pointer;white-space:nowrap}
.filter button[aria-pressed=true]{background:var(--accent);border-color:var(--accent);color:var(--page)}
.filter :focus-visible,.result>summary:focus-visible,a:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.result>summary:focus-visible{outline-offset:-2px}
.result[hidden]{display:none}
.line{display:grid;grid-template-columns:20px minmax(0,1fr) max-content max-content;gap:2px 12px;padding:10px 14px;align-items:baseline}
.line .name{overflow-wrap:anywhere}
.line .name b{font-weight:600}
.line .marks{display:flex;flex-wrap:wrap;gap:6px;justify-content:flex-end}
.line .pill{font-size:12px;padding:1px 8px}
.line .time{text-align:right;color:var(--soft);font-size:13px;font-variant-numeric:tabular-nums;white-space:nowrap}
.line>.state{grid-column:2/-1;font-size:13.5px;overflow-wrap:anywhere}
.result.failed .line>.state,.result.not-run .line>.state{color:var(--bad)}
.line .reason{grid-column:2/-1;font-size:13.5px;color:var(--bad);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.result.flaky .reason,.result.quarantined .reason{color:var(--warn)}
.result[open]>summary .reason{display:none}
.result>summary{cursor:pointer;list-style:none}
.result>summary::-webkit-details-marker{display:none}
.result>summary:hover{background:var(--code)}
.result .card{margin:0;border:0;border-radius:0;border-top:1px solid var(--line);padding:14px 18px 18px 46px}
.result .message{margin:0;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate}
.result .frame{unicode-bidi:isolate;white-space:pre;overflow-x:auto}
.result .differences{margin-top:8px}.result .differences li:first-child{border-top:0}
.expected{color:var(--good)}.received{color:var(--bad)}
.result .frame{border-left:3px solid var(--bad)}
.result.flaky .frame,.result.quarantined .frame{border-left-color:var(--warn)}
.result dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:4px 14px;margin:12px 0 0;font-size:13.5px}
.result dt{color:var(--soft)}.result dd{margin:0;overflow-wrap:anywhere;unicode-bidi:isolate}
.result dd code{white-space:pre-wrap}
.result img{margin-top:14px;max-height:420px;width:auto;object-fit:contain;object-position:left top}
.result ul{margin:0;padding:0;list-style:none}
.soft.count{margin:0 0 0 auto;font-size:13px}
@media(max-width:640px){.line{grid-template-columns:16px minmax(0,1fr) max-content;padding:10px}
.line .marks{grid-column:2/-1;grid-row:2;justify-content:flex-start}.line .marks:empty{display:none}
.line .time{grid-column:3;grid-row:1}
.result .card{padding:12px}.result dl{grid-template-columns:minmax(0,1fr);gap:0}.result dt{margin-top:6px}
.facts div{flex-basis:40%}.filter{position:static}}
@media print{.filter{display:none}}
`;

export const INDEX_STYLE = STYLE + OWN;

/** Filters the list by text and state. Without it the page shows all flows. */
export const INDEX_SCRIPT = `
(() => {
  const bar = document.querySelector('.filter');
  const input = bar.querySelector('input');
  const buttons = [...bar.querySelectorAll('button')];
  const count = bar.querySelector('.count');
  const results = [...document.querySelectorAll('.result')].map((element) => ({
    element, text: element.dataset.text, states: element.dataset.states.split(' '),
  }));
  let state = '';
  const show = () => {
    const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean);
    let shown = 0;
    for (const { element, text, states } of results) {
      const fits = (state === '' || states.includes(state)) && words.every((word) => text.includes(word));
      element.hidden = !fits;
      if (fits) shown += 1;
    }
    count.textContent = shown + ' of ' + results.length;
  };
  for (const button of buttons) {
    button.addEventListener('click', () => {
      state = button.value;
      for (const other of buttons) other.setAttribute('aria-pressed', String(other === button));
      show();
    });
  }
  input.addEventListener('input', show);
  bar.hidden = false;
  show();
})();
`;

/**
 * The index's content security policy: only this script and this style sheet, pictures beside the page, and no requests.
 * `file:` because a page that is opened from a file has no origin that 'self' could mean.
 */
export const INDEX_POLICY = `default-src 'none'; img-src 'self' file:; style-src '${hashOf(INDEX_STYLE)}'; script-src '${hashOf(INDEX_SCRIPT)}'; base-uri 'none'; form-action 'none'`;

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
