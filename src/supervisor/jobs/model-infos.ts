import { isCallable } from '../../config/models.js';
import type { Config } from '../../config.js';
import type { ModelInfo } from '../ports/sessions.js';

/** The configured models, the default first. */
export function modelInfos({ models }: Pick<Config, 'models'>): readonly ModelInfo[] {
  return models.map((model, index) => ({
    id: model.id,
    default: index === 0,
    ready: isCallable(model),
    apiKeyEnv: model.apiKeyEnv,
  }));
}
