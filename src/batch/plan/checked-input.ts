import type { JobInput } from './input.ts';

/** What became of a candidate. */
export type CheckedInput =
  | { readonly type: 'usable'; readonly input: JobInput }
  /** It is what the command works on, and cannot be used; why, with the fix in the same sentence. */
  | { readonly type: 'problem'; readonly detail: string }
  /** Not what the command works on: skipped in a folder, unless its name says otherwise. */
  | { readonly type: 'other'; readonly detail: string };
