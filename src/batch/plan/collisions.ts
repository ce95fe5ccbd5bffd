/** Results that would get in the way of each other, of inputs, or of what is there. */
import type { InputProblem } from './input.ts';

export interface Claim {
  /** Of the item. */
  readonly label: string;
  readonly path: string;
}

/** Two items that would write one file, on this disk or on one that does not tell upper from lower case. */
export function findClashes(claims: readonly Claim[]): InputProblem[] {
  const taken = new Map<string, Claim>();
  return claims.flatMap((claim): InputProblem[] => {
    const first = taken.get(foldedPath(claim.path));
    if (first === undefined) {
      taken.set(foldedPath(claim.path), claim);
      return [];
    }
    const like =
      first.path === claim.path
        ? `as ${first.label} does`
        : `which on many disks is the same file as ${first.path} of ${first.label}`;
    return [
      { pointer: claim.label, detail: `would write ${claim.path}, ${like}; use --name or two folders` },
    ];
  });
}

/** Results that would be written over an input; not even --clobber may do that. */
export function findOverwrittenInputs(claims: readonly Claim[], inputs: ReadonlySet<string>): InputProblem[] {
  return claims.flatMap(({ label, path }) =>
    inputs.has(path)
      ? [{ pointer: label, detail: `would write its result over the input ${path}; use --name or --out` }]
      : [],
  );
}

/** The same for all paths that may be one file: macOS and Windows keep one file for names that differ in case, macOS also for those that differ in composition. */
export function foldedPath(path: string): string {
  return path.normalize('NFC').toLowerCase();
}
