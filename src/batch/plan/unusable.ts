import { Failure } from '../../errors/failure.ts';
import type { InputProblem } from './input.ts';

/** Code of the failure of what cannot be used, of a whole plan or of one item; nothing was sent of it. */
export const NOT_USABLE = 'NOT_USABLE';

/** The failure that a plan ends with; `shortage` is the lack of room on the disk, if there is one. */
export function unusable(problems: readonly InputProblem[], shortage: InputProblem | null): Failure {
  if (shortage !== null && problems.length === 0) {
    return new Failure({
      category: 'disk',
      code: 'DISK_FULL',
      message: `${shortage.pointer} ${shortage.detail}; nothing was sent`,
      advice: 'Free room, or choose a folder on another disk with --out.',
    });
  }
  const all = shortage === null ? problems : [...problems, shortage];
  const count = all.length === 1 ? '1 problem' : `${all.length} problems`;
  return new Failure({
    category: 'usage',
    code: NOT_USABLE,
    message: `${count} found; nothing was sent`,
    errors: all,
  });
}
