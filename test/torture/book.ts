/**
 * What the callers of the service were answered, and the answers that they still wait for. All of it must hold after
 * a kill.
 */
import type { JobKind } from '../../src/protocol/kind-names.ts';

/** A create request that is sent with the same key until it is answered. */
export interface Intent {
  readonly kind: JobKind;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly key: string;
}

interface Accepted {
  readonly id: string;
  readonly intent: Intent;
  readonly detailUrl: string;
  /** The state of the end that a caller saw, or null. */
  seen: string | null;
  cancelled: boolean;
}

/** A request that was answered: the very same one must be refused from then on. */
interface Spent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Book {
  readonly accepted: Map<string, Accepted>;
  /** By their keys. */
  readonly unanswered: Map<string, Intent>;
  /** Ready uploads, by what jobs take them for. */
  readonly uploads: { readonly source: string[]; readonly subtitle: string[] };
  readonly spent: Spent[];
  readonly violations: string[];
  readonly counts: Record<'kills' | 'replays' | 'nonces' | 'cancels' | 'requests', number>;
}

export function openBook(): Book {
  return {
    accepted: new Map(),
    unanswered: new Map(),
    uploads: { source: [], subtitle: [] },
    spent: [],
    violations: [],
    counts: { kills: 0, replays: 0, nonces: 0, cancels: 0, requests: 0 },
  };
}

export const TERMINAL: readonly string[] = ['succeeded', 'failed', 'cancelled'];
