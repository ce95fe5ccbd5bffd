import { expect, it } from 'vitest';
import { deliveryCommand } from '../../../src/workflow/jobs/continuation.ts';

const IO = { ...{ cwd: '/here', env: {}, platform: 'linux' } } as const;

it('jobs are taken up by their ids so that results go to the same place, at the same service', () => {
  const delivery = { folder: '/my videos', template: 'talk.{lang}{ext}', existing: 'skip' } as const;
  const context = { io: IO, service: { profile: 'prod' } } as unknown as Parameters<
    typeof deliveryCommand
  >[3]; // reads no more
  expect(deliveryCommand('wait', ['loc_1'], delivery, context)).toBe(
    "vloc jobs wait loc_1 --out '/my videos' --name 'talk.{lang}{ext}' --skip-existing --profile prod",
  );
});
