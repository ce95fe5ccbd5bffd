import { Failure } from '../../client/failure.ts';
import type { InputProblem } from './input.ts';

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
  const count = all.length === 1 ? 'One thing stands' : `${all.length} things stand`;
  return new Failure({
    category: 'usage',
    code: 'NOT_USABLE',
    message: `${count} in the way; nothing was sent`,
    errors: all,
  });
}
