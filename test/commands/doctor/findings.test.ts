import { expect, it } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import {
  type CheckArea,
  type CheckGrade,
  type CheckReport,
  checksFailure,
  createCheckRunner,
} from '../../../src/commands/doctor/findings.ts';

const never = new AbortController().signal;

it('a check that takes too long is stopped and becomes a finding', async () => {
  let stopped = false;
  const finding = await createCheckRunner(never, 20)('slow', 'network', (signal) => {
    signal.addEventListener('abort', () => {
      stopped = true;
    });
    return new Promise(() => {});
  });
  expect(finding).toMatchObject({ check: 'slow', grade: 'fail', message: 'no answer within 0.0 s' });
  expect(stopped).toBe(true);
});

it('an exception of a check becomes a finding in the area that the failure names', async () => {
  const runCheck = createCheckRunner(never);
  const failure = new Failure({
    category: 'disk',
    code: 'ENOSPC',
    message: 'it is full',
    advice: 'Make room.',
  });
  expect(await runCheck('a', 'network', () => Promise.reject(failure))).toMatchObject({
    area: 'disk',
    grade: 'fail',
    message: 'it is full',
    fix: 'Make room.',
  });
  expect(await runCheck('b', 'network', () => Promise.reject(new Error('odd')))).toMatchObject({
    area: 'network',
    grade: 'fail',
    message: 'odd',
  });
});

it('a check ends with the run that was stopped', async () => {
  const stop = new AbortController();
  const finding = createCheckRunner(stop.signal)('slow', 'network', () => new Promise(() => {}));
  stop.abort(new Error('stopped'));
  await expect(finding).rejects.toThrow('stopped');
});

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
