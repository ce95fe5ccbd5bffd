/** Results that would get in the way of each other, of inputs, or of what is there. */
import { type FindInput, foldName } from '../../disk/find-input.ts';
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
    const first = taken.get(foldName(claim.path));
    if (first === undefined) {
      taken.set(foldName(claim.path), claim);
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
export async function findOverwrittenInputs(
  claims: readonly Claim[],
  findInput: FindInput,
): Promise<InputProblem[]> {
  const problems: InputProblem[] = [];
  for (const { label, path } of claims) {
    const input = await findInput(path);
    if (input === null) continue;
    const what = input === path ? 'the input' : `${path}, which is the input`;
    problems.push({
      pointer: label,
      detail: `would overwrite ${what} ${input} with its result; use --name or --out`,
    });
  }
  return problems;
}
