/** Every setting of the service with the place it comes from. */
import type { EnvironmentName } from './environment.ts';
import type { SecretSource } from './profile.ts';

/** Where a value was set. */
export type Origin =
  | { readonly type: 'flag'; readonly name: string }
  | { readonly type: 'env'; readonly name: EnvironmentName }
  | { readonly type: 'project'; readonly path: string }
  | { readonly type: 'profile'; readonly name: string }
  | { readonly type: 'in-use'; readonly path: string }
  | { readonly type: 'default' };

export interface Setting<Value> {
  readonly value: Value;
  readonly origin: Origin;
}

export interface Settings {
  /** `local` for the embedded service; null when a service is described without one. */
  readonly profile: Setting<string> | null;
  /** Null is the embedded service. */
  readonly baseUrl: Setting<string | null>;
  readonly key: Setting<string> | null;
  readonly secret: Setting<SecretSource> | null;
  readonly headerPrefix: Setting<string>;
  readonly webhookSecret: Setting<SecretSource> | null;
  readonly stateDir: Setting<string>;
}

/** `env VLOC_KEY`, `profile prod`: the place in the words of the documents. */
export function describeOrigin(origin: Origin): string {
  switch (origin.type) {
    case 'flag':
      return `flag ${origin.name}`;
    case 'env':
      return `env ${origin.name}`;
    case 'project':
      return `project file ${origin.path}`;
    case 'profile':
      return `profile ${origin.name}`;
    case 'in-use':
      return `in use (${origin.path})`;
    case 'default':
      return 'default';
  }
}
