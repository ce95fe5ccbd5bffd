import { expect, it } from 'vitest';
import { deliveryCommand, openCommand } from '../../../src/commands/jobs/continuation.ts';

const IO = { ...{ cwd: '/here', env: {}, platform: 'linux' } } as const;

it('jobs are continued by their ids so that results go to the same place, at the same service', () => {
  const delivery = { folder: '/my videos', template: 'talk.{lang}{ext}', existing: 'skip' } as const;
  const context = { io: IO, service: { profile: 'prod' } } as unknown as Parameters<
    typeof deliveryCommand
  >[3]; // reads no more
  expect(deliveryCommand('wait', ['loc_1'], delivery, context)).toBe(
    "vloc jobs wait loc_1 --out '/my videos' --name 'talk.{lang}{ext}' --skip-existing --profile prod",
  );
});

it.each([
  ['linux', 'talk.es.mp4', 'ffplay -autoexit talk.es.mp4'],
  ['linux', 'talk.es.srt', 'less talk.es.srt'],
  ['darwin', 'my talk.es.mp4', "open 'my talk.es.mp4'"],
  // For PowerShell, like all commands that are printed there.
  ['win32', 'my talk.es.mp4', "Invoke-Item 'my talk.es.mp4'"],
] as const)('on %s, %s is opened by %s', (platform, name, command) => {
  expect(
    openCommand(
      { io: { ...IO, platform } as Parameters<typeof openCommand>[0]['io'] }, // reads no more
      `/here/${name}`,
    ),
  ).toBe(command);
});
