import type { JobInput } from './input.ts';

/** What became of a candidate. */
export type CheckedInput =
  | { readonly type: 'usable'; readonly input: JobInput }
  /** Why it cannot be used, with the mend in the same sentence. */
  | { readonly type: 'problem'; readonly detail: string }
  /** Not what the command works on; for a file that nobody named no problem. */
  | { readonly type: 'other'; readonly detail: string };
