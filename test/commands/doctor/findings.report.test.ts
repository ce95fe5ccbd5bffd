import { expect, it } from 'vitest';
import {
  type CheckArea,
  type CheckGrade,
  type CheckReport,
  checksFailure,
} from '../../../src/commands/doctor/findings.ts';

function finding(area: CheckArea, grade: CheckGrade): CheckReport {
  return { check: `${area} ${grade}`, area, grade, message: 'm', fix: `fix the ${area}` };
}

it.each([
  [['network', 'disk', 'configuration'], 'configuration'],
  [['network', 'disk'], 'disk'],
  [['network'], 'temporary'],
] as const)('of failures in %j, %s decides', (areas, category) => {
  const failure = checksFailure(areas.map((area) => finding(area, 'fail')));
  expect(failure?.facts).toMatchObject({ category, code: 'CHECKS_FAILED' });
});

it('warnings are not a failure', () => {
  expect(checksFailure([finding('disk', 'warn'), finding('network', 'ok')])).toBeNull();
});
