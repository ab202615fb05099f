import { createHash } from 'node:crypto';

/** The style sheet of report.html. The page's policy allows no inline styles and no script. */
export const STYLE = `
:root{color-scheme:light dark;
--page:light-dark(#f6f7f9,#14161a);--card:light-dark(#fff,#1c1f25);--line:light-dark(#e1e4ea,#2e333c);
--text:light-dark(#1b1f27,#e6e9ef);--soft:light-dark(#5b6472,#9aa4b4);--code:light-dark(#f0f2f5,#242831);
--good:light-dark(#137a3f,#4cc38a);--bad:light-dark(#c02b2b,#ff7b72);--warn:light-dark(#8a5a00,#e3b341);
--goodbg:light-dark(#e4f5ea,#15301f);--badbg:light-dark(#fdeaea,#3a1a1b);--warnbg:light-dark(#fdf3dc,#33290f);
--accent:light-dark(#2457d6,#7aa2ff);--calls:light-dark(#f7f9ff,#1a1f2b);--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
main{max-width:1080px;margin:0 auto;padding:24px 20px 64px}
h1{font-size:24px;line-height:1.25;margin:10px 0 4px;overflow-wrap:anywhere}
h2{font-size:17px;margin:36px 0 12px;display:flex;gap:10px;align-items:baseline}
h2 small{font-weight:400;font-size:13px;color:var(--soft)}
h3{font-size:15px;margin:0;overflow-wrap:anywhere}
p{margin:6px 0}
a{color:var(--accent);text-underline-offset:2px}
code,pre,.mono{font-family:var(--mono);font-size:12.5px}
pre{margin:8px 0 0;padding:10px 12px;background:var(--code);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere;
max-height:420px;overflow:auto}
.text{unicode-bidi:isolate;overflow-wrap:anywhere;white-space:pre-wrap}
.soft{color:var(--soft)}
.pill{display:inline-flex;gap:6px;align-items:center;padding:2px 10px;border-radius:999px;font-size:13px;font-weight:600;
background:var(--code);color:var(--soft)}
.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}
.pill.good{background:var(--goodbg)}.pill.bad{background:var(--badbg)}.pill.warn{background:var(--warnbg)}
.facts{display:flex;flex-wrap:wrap;gap:1px;margin:18px 0 0;padding:0;
background:var(--line);border:1px solid var(--line);border-radius:10px;overflow:hidden}
.facts div{flex:1 1 130px;background:var(--card);padding:10px 14px;min-width:0}
.facts dt{font-size:12px;color:var(--soft)}
.facts dd{margin:0;font-weight:600;overflow-wrap:anywhere}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:16px 18px;margin:0 0 14px}
.failure{border-left:4px solid var(--bad)}
.failure.warn-edge{border-left-color:var(--warn)}
.failure header{display:flex;gap:10px;align-items:center;flex-wrap:wrap}
.failure .message{margin:10px 0 0;font-size:15px;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate}
.failure dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:2px 14px;margin:12px 0 0;font-size:13.5px}
.failure dt{color:var(--soft)}.failure dd{margin:0;overflow-wrap:anywhere;unicode-bidi:isolate}.failure dd code{white-space:pre-wrap}
img{display:block;max-width:100%;height:auto;border:1px solid var(--line);border-radius:6px;background:#fff}
.failure img{margin-top:14px;max-height:560px;object-fit:contain;object-position:left top}
.compared{margin-top:14px}.compared figure{margin:14px 0 0}.compared figcaption{font-size:13px;color:var(--soft);margin-bottom:4px}
.failure .compared img{margin:0;max-height:none}
.slider{position:relative;overflow:auto}.failure .slider img{max-width:none;border-radius:0;border:0}
.slider .upper{position:absolute;left:0;top:0;width:50%;max-width:100%;overflow:hidden;resize:horizontal;border-right:2px solid var(--bad)}
.frame{margin:10px 0 0;padding:8px 12px;overflow-x:auto;border-left:3px solid var(--bad);border-radius:4px;background:var(--code);white-space:pre;font:12.5px/1.5 ui-monospace,Menlo,Consolas,monospace}
.expected{color:var(--good)}.received{color:var(--bad)}
.failure dd ul{margin:0;padding:0;list-style:none}
.differences{margin:10px 0 0;padding:0;list-style:none;font-size:13.5px}
.differences li{padding:4px 0;border-top:1px solid var(--line);overflow-wrap:anywhere}
.rows{background:var(--card);border:1px solid var(--line);border-radius:10px;overflow:hidden}
.rows>*{border-top:1px solid var(--line)}
.rows>*:first-child{border-top:0}
.flow{display:grid;grid-template-columns:20px minmax(0,1fr) max-content;gap:2px 10px;padding:10px 14px;align-items:baseline}
.flow p{grid-column:2/-1;margin:0;font-size:13.5px}
.group{padding:6px 14px;background:var(--code);font-size:12.5px;color:var(--soft);overflow-wrap:anywhere}
.step>summary{display:grid;grid-template-columns:20px 34px minmax(0,1fr) 66px 168px;gap:4px 10px;align-items:start;
padding:8px 14px;cursor:pointer;list-style:none}
.step>summary::-webkit-details-marker{display:none}
.step>summary:hover{background:var(--code)}
.step>summary:focus-visible{outline:2px solid var(--accent);outline-offset:-2px}
.step .n,.step .time{color:var(--soft);font-variant-numeric:tabular-nums;text-align:right;font-size:13px}
.step .js{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.step .bar{grid-column:3;grid-row:2}.step .time{grid-column:4;grid-row:1}
.step .why,.step .spent{grid-column:3/5;font-size:13px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.step summary .shot{grid-column:5;grid-row:1/span 4;width:168px;height:95px;object-fit:cover;object-position:top;border-radius:4px}
.step[open]>summary .shot{grid-column:1/-1;grid-row:auto;width:auto;height:auto;max-height:none;justify-self:start;cursor:zoom-out}
.step[open]>summary .js,.step[open]>summary .why{white-space:normal;overflow-wrap:anywhere}
.call{background:var(--calls)}.call .who{color:var(--accent)}.call pre.asked{border-left:3px solid var(--accent)}
.call pre.wrong{border-left:3px solid var(--bad)}
.step .more{padding:2px 14px 14px 78px;font-size:13.5px}
svg{display:block;width:100%}
.bar{height:8px;background:var(--code);border-radius:4px}
.bar rect{fill:var(--accent)}.bar .bad{fill:var(--bad)}
.overview{height:26px;background:var(--code);border-radius:6px;margin-top:14px}
.overview rect{fill:var(--accent);opacity:.75}.overview .model{opacity:.28}.overview .bad{fill:var(--bad);opacity:1}
.axis{display:flex;justify-content:space-between;font-size:12px;color:var(--soft);margin:2px 0 14px}
.fold>summary{cursor:pointer;padding:10px 14px;font-weight:600}
.fold ul{list-style:none;margin:0;padding:0 14px 10px}
.fold li{padding:4px 0;border-top:1px solid var(--line);font-size:13.5px;overflow-wrap:anywhere}
.fold li .mono{white-space:pre-wrap}
footer{margin-top:40px;color:var(--soft);font-size:13px}
@media(max-width:640px){main{padding:16px 12px 48px}h1{font-size:20px}
.card{padding:14px}
.failure dl{grid-template-columns:1fr}.failure dt{margin-top:6px}
.step>summary{grid-template-columns:16px 26px minmax(0,1fr) max-content;padding:8px 10px}
.step>summary .bar{display:none}.step summary .shot{grid-column:3/-1;grid-row:auto;width:168px;height:95px}
.step .why,.step .spent{grid-column:3/-1}.step .more{padding:2px 10px 12px}}
@media print{:root{color-scheme:light}body{background:#fff;font-size:12px}main{max-width:none;padding:0}
.card,.step,.flow{break-inside:avoid}.step summary .shot{width:84px}pre{max-height:none}
.fold:not([open])::details-content{content-visibility:visible}.failure img{max-height:320px}}
`;

/** The page's content security policy: no requests, no scripts, only this style sheet. Images are inlined. */
export const POLICY = `default-src 'none'; img-src data:; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'`;
