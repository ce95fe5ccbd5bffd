/** How results are named and what happens to files that exist. */
import { resolve } from 'node:path';
import type { JobKind } from '../../protocol/kind-names.ts';
import { defaultTemplate } from './result-name.ts';

export interface Delivery {
  /** Absolute. */
  readonly folder: string;
  /** Empty for the default of each job's kind. */
  readonly template: string;
  readonly existing: 'refuse' | 'replace' | 'skip';
}

/** The delivery that the options ask for; `kind` is null where jobs of several kinds may come. */
export function readDelivery(
  kind: JobKind | null,
  options: Readonly<Record<string, unknown>>,
  { cwd }: { readonly cwd: string },
): Delivery {
  return {
    folder: typeof options.out === 'string' ? resolve(cwd, options.out) : cwd,
    template: typeof options.name === 'string' ? options.name : kind === null ? '' : defaultTemplate(kind),
    existing: options.clobber === true ? 'replace' : options.skipExisting === true ? 'skip' : 'refuse',
  };
}
