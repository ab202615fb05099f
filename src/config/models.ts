import { TroupeError } from '../protocol/errors.js';
import { secretValue } from './secret-value.js';

/** A model provider: an OpenAI-compatible endpoint. */
export interface ProviderSettings {
  readonly baseURL: string;
  /** The environment variable with the key; undefined for a server that needs none. */
  readonly apiKeyEnv?: string | undefined;
}

/**
 * A configured model with everything that is needed to call it. Contains a secret: it is never logged, journaled or
 * returned.
 */
export interface ModelChoice {
  /** The configured name, which users also use: `<prefix>/<name>`. */
  readonly id: string;
  readonly provider: string;
  /** The provider's name for it; may contain slashes. */
  readonly name: string;
  readonly baseURL: string;
  readonly apiKeyEnv: string | null;
  /** Null if the provider needs none, or the variable is not set. */
  readonly apiKey: string | null;
}

/** Endpoints as documented by the providers (November 2026). The key of each is in `<PREFIX>_API_KEY`. */
const BASE_URLS: { readonly [prefix: string]: string } = {
  openai: 'https://api.openai.com/v1',
  openrouter: 'https://openrouter.ai/api/v1',
  anthropic: 'https://api.anthropic.com/v1',
  gemini: 'https://generativelanguage.googleapis.com/v1beta/openai',
  groq: 'https://api.groq.com/openai/v1',
  mistral: 'https://api.mistral.ai/v1',
  deepseek: 'https://api.deepseek.com',
  xai: 'https://api.x.ai/v1',
  together: 'https://api.together.xyz/v1',
  cerebras: 'https://api.cerebras.ai/v1',
  fireworks: 'https://api.fireworks.ai/inference/v1',
};

/** Servers on the same machine, which need no key. */
const LOCAL_URLS: { readonly [prefix: string]: string } = {
  ollama: 'http://127.0.0.1:11434/v1',
  lmstudio: 'http://127.0.0.1:1234/v1',
};

/**
 * The configured models, in their order, with endpoint and key.
 *
 * @param providers settings by prefix; they override the built-in ones
 * @throws INVALID_REQUEST for a model that is not `<prefix>/<name>`, or whose provider is unknown
 */
export function resolveModels(
  models: readonly string[],
  providers: { readonly [prefix: string]: ProviderSettings },
  env: NodeJS.ProcessEnv,
): readonly ModelChoice[] {
  return models.map((id) => {
    const slash = id.indexOf('/');
    const provider = id.slice(0, Math.max(0, slash));
    const name = id.slice(slash + 1);
    if (provider === '' || name === '') {
      throw new TroupeError('INVALID_REQUEST', `models: '${id}' must have the form <provider>/<name>`);
    }
    const settings = Object.hasOwn(providers, provider) ? providers[provider] : knownProvider(provider);
    if (settings === undefined) {
      const known = [...Object.keys(BASE_URLS), ...Object.keys(LOCAL_URLS)].join(', ');
      throw new TroupeError(
        'INVALID_REQUEST',
        `models: '${id}' has the unknown provider '${provider}': set its baseURL in "providers", or use one of ${known}`,
      );
    }
    const { baseURL, apiKeyEnv } = settings;
    const apiKey = apiKeyEnv === undefined ? null : (secretValue(env, apiKeyEnv) ?? null);
    return { id, provider, name, baseURL, apiKeyEnv: apiKeyEnv ?? null, apiKey };
  });
}

/**
 * The models for a task: the requested one, or the first, followed by the callable ones configured after it, as
 * fallbacks.
 *
 * @throws AUTONOMY_OFF, MODEL_NOT_ALLOWED, and MISSING_API_KEY with the variable's name
 */
export function chooseModels(
  configured: readonly ModelChoice[],
  requested: string | null | undefined,
): readonly [ModelChoice, ...ModelChoice[]] {
  const [first] = configured;
  if (first === undefined) {
    throw new TroupeError(
      'AUTONOMY_OFF',
      'No model is configured: name one in "models" of troupe.json, or set maxIterations to 0 to run flow files alone',
    );
  }
  const index = requested === null || requested === undefined ? 0 : configured.findIndex(({ id }) => id === requested);
  const chosen = configured[index];
  if (chosen === undefined) {
    const allowed = configured.map(({ id }) => id);
    throw new TroupeError(
      'MODEL_NOT_ALLOWED',
      `The model '${requested}' is not configured; use one of ${allowed.join(', ')}`,
      { allowed },
    );
  }
  if (!isCallable(chosen)) {
    throw new TroupeError(
      'MISSING_API_KEY',
      `The model '${chosen.id}' needs the environment variable ${chosen.apiKeyEnv}, which is not set`,
      { variable: chosen.apiKeyEnv },
    );
  }
  return [chosen, ...configured.slice(index + 1).filter(isCallable)];
}

/** False if a key is needed and missing. */
export function isCallable({ apiKey, apiKeyEnv }: ModelChoice): boolean {
  return apiKeyEnv === null || apiKey !== null;
}

function knownProvider(prefix: string): ProviderSettings | undefined {
  if (Object.hasOwn(LOCAL_URLS, prefix)) return { baseURL: LOCAL_URLS[prefix] ?? '' };
  if (!Object.hasOwn(BASE_URLS, prefix)) return undefined;
  const variable = `${prefix.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_API_KEY`;
  return { baseURL: BASE_URLS[prefix] ?? '', apiKeyEnv: variable };
}
