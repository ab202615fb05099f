import { basename, dirname, isAbsolute, join, normalize } from 'node:path';
import { isFileName } from '../../../protocol/file-name.js';
import { isRecord, type Params, quoted } from './devtools-command.js';

/** The session's id, and its folders as its browser sees them. */
export interface SessionFolders {
  readonly id: string;
  readonly downloadsDir: string;
  readonly uploadsDir: string;
}

/** The parameters to forward, the reason for a refusal as the end of a sentence, or the browser's own error. */
export type Checked = { readonly params: Params } | { readonly refusal: string } | { readonly error: string };

type Check = (params: Params, folders: SessionFolders) => Checked;

/** Commands whose parameters can reach beyond the pages of a session. */
const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['Browser.setDownloadBehavior', ownDownloads],
  ['DOM.setFileInputFiles', fileInput],
  ['Fetch.continueRequest', addressOf(['http:', 'https:', 'ws:', 'wss:'], 'optional')],
  ['Input.dispatchDragEvent', drag],
  ['Network.continueInterceptedRequest', addressOf(['http:', 'https:', 'ws:', 'wss:'], 'optional')],
  ['Network.loadNetworkResource', addressOf(['http:', 'https:'], 'required')],
  ['Page.navigate', navigate],
  // It sets the behaviour of the page's own context, so it stays this command. Chromium applies either command's
  // behaviour to both.
  ['Page.setDownloadBehavior', (_params, folders) => ({ params: namedDownloads(folders) })],
  ['Target.attachToTarget', flat],
  ['Target.createBrowserContext', ownProxy],
  ['Target.createTarget', newTarget],
  ['Target.setAutoAttach', flat],
  ['Tracing.start', tracing],
]);

/** Checks parameters that name something outside of the pages, and replaces them by the session's own if necessary. */
export function checkParams(method: string, params: Params, folders: SessionFolders): Checked {
  return CHECKS.get(method)?.(params, folders) ?? { params };
}

/**
 * The session lists and stores files from its own folder. Chromium gives each a unique name, so that none replaces
 * another.
 */
function namedDownloads({ downloadsDir }: SessionFolders): Params {
  return { behavior: 'allowAndName', downloadPath: downloadsDir };
}

function ownDownloads({ browserContextId, eventsEnabled }: Params, folders: SessionFolders): Checked {
  return { params: { ...namedDownloads(folders), browserContextId, eventsEnabled } };
}

/** Without "flatten", commands would be nested in others, as text. */
function flat(params: Params): Checked {
  if (params.flatten === true) return { params };
  return { refusal: 'it needs "flatten": true; commands then name their target with "sessionId"' };
}

/** Drops the proxy parameters: the session's own proxy blocks addresses that pages must not reach. */
function ownProxy({ proxyServer: _server, proxyBypassList: _bypass, ...params }: Params): Checked {
  return { params };
}

function newTarget(params: Params, folders: SessionFolders): Checked {
  // For Chromium an empty URL means a page without a document.
  return params.url === '' ? { params } : openPage(params, folders);
}

const openPage = addressOf(['http:', 'https:', 'about:', 'blob:', 'data:'], 'required');

/** Libraries and chromedriver know Chromium's words for text that is no URL at all. */
function navigate(params: Params, folders: SessionFolders): Checked {
  if (typeof params.url === 'string' && !URL.canParse(params.url)) return { error: 'Cannot navigate to invalid URL' };
  return openPage(params, folders);
}

function tracing(params: Params): Checked {
  // A Perfetto message in base64, which can name files to write.
  if (params.perfettoConfig !== undefined) return { refusal: '"perfettoConfig" is not allowed; use "traceConfig"' };
  const { tracingBackend: backend } = params;
  if (backend === undefined || backend === 'auto' || backend === 'chrome') return { params };
  return { refusal: '"tracingBackend" must be "chrome": the system backend records the whole machine' };
}

/** Checks the parameter `url`, and forwards the parsed URL rather than the text. */
function addressOf(schemes: readonly string[], need: 'required' | 'optional'): Check {
  return ({ url, ...rest }) => {
    if (url === undefined && need === 'optional') return { params: rest };
    if (typeof url !== 'string') return { refusal: '"url" must be a string' };
    const checked = checkedAddress(url, schemes);
    if (checked !== null) return { params: { ...rest, url: checked } };
    const names = schemes.map((scheme) => (scheme === 'about:' ? 'about:blank' : scheme)).join(', ');
    return { refusal: `it cannot open ${quoted(url)}; give a whole URL with one of ${names}` };
  };
}

/** The URL as every parser reads it; null for an invalid one or another scheme. */
function checkedAddress(text: string, schemes: readonly string[]): string | null {
  if (!URL.canParse(text)) return null;
  const { protocol, pathname, href } = new URL(text);
  if (!schemes.includes(protocol)) return null;
  // Other about: URLs are pages of the browser itself: about:version is chrome://version.
  if (protocol === 'about:' && pathname !== 'blank' && pathname !== 'srcdoc') return null;
  if (protocol === 'blob:' && !/^(?:https?:|null\/)/.test(pathname)) return null;
  // Chromium keeps line breaks and tabs in the content of a data: URL; the URL class drops them.
  return protocol === 'data:' && /^data:/i.test(text) ? text : href;
}

function fileInput({ files, ...params }: Params, folders: SessionFolders): Checked {
  const own = ownFiles(files, folders);
  return 'refusal' in own ? own : { params: { ...params, files: own.files } };
}

/** Chromium opens dropped files, and links to files, if no page handles the drop. */
function drag({ data, ...params }: Params, folders: SessionFolders): Checked {
  if (!isRecord(data)) return { refusal: '"data" must be an object' };
  const { items = [], files, ...rest } = data;
  if (!Array.isArray(items)) return { refusal: '"data.items" must be an array' };
  for (const item of items) {
    if (!isRecord(item) || typeof item.mimeType !== 'string' || typeof item.data !== 'string') {
      return { refusal: 'each of "data.items" must have the strings "mimeType" and "data"' };
    }
    const refused = /^\s*text\/uri-list/i.test(item.mimeType) ? foreignLink(item.data) : undefined;
    if (refused !== undefined) {
      return { refusal: `it cannot drop ${quoted(refused)}; give whole URLs with one of http:, https:, blob:, data:` };
    }
  }
  if (files === undefined) return { params: { ...params, data: { ...rest, items } } };
  const own = ownFiles(files, folders);
  return 'refusal' in own ? own : { params: { ...params, data: { ...rest, items, files: own.files } } };
}

/** The first link of a list (RFC 2483, section 5) that does not lead to the network or the page itself. */
function foreignLink(list: string): string | undefined {
  const links = list.split(/[\r\n]+/).filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return links.find((link) => checkedAddress(link, ['http:', 'https:', 'about:', 'blob:', 'data:']) === null);
}

/** Paths directly in the session's uploads folder; a plain name means the file of that name there. */
function ownFiles(
  files: unknown,
  { id, uploadsDir }: SessionFolders,
): { readonly files: readonly string[] } | { readonly refusal: string } {
  if (!Array.isArray(files)) return { refusal: '"files" must be an array of paths' };
  const dir = normalize(uploadsDir);
  const own: string[] = [];
  for (const file of files) {
    if (typeof file !== 'string') return { refusal: '"files" must be an array of paths' };
    const path = isAbsolute(file) ? normalize(file) : join(dir, file);
    const name = basename(path);
    if (dirname(path) !== dir || !isFileName(name)) {
      const how = `PUT the file to /api/sessions/${id}/files/NAME first and give the path ${join(dir, 'NAME')}`;
      return { refusal: `${quoted(file)} is not an upload of the session; ${how}` };
    }
    own.push(join(dir, name));
  }
  return { files: own };
}
