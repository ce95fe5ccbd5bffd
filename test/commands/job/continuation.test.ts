import { expect, it } from 'vitest';
import { continueCommand, redoCommand, sameCommand } from '../../../src/commands/job/continuation.ts';

it('the command that continues puts the result where the run would have', () => {
  const delivery = { folder: '/my videos', template: '{stem}.{lang}{ext}', existing: 'skip' } as const;
  expect(continueCommand({ id: 'loc_1' }, 'talk', delivery, {})).toBe(
    "vloc jobs wait loc_1 --out '/my videos' --name 'talk.{lang}{ext}' --skip-existing",
  );
});

it('the command that does it again makes a new job and replaces what is there', () => {
  expect(redoCommand(['localize', 'my talk.mp4', '--to', 'es'], {})).toBe(
    "vloc localize 'my talk.mp4' --to es --fresh --clobber",
  );
  expect(redoCommand(['localize', 'a.mp4', '--fresh', '--clobber'], {})).toBe(
    'vloc localize a.mp4 --fresh --clobber',
  );
});

it('names the tool as the shell can find it: through npx where npm started it', () => {
  expect(redoCommand(['localize', 'a.mp4', '--clobber'], { npm_command: 'run' })).toBe(
    'npx vloc localize a.mp4 --clobber --fresh',
  );
});

it('the command that goes on never begins anew, which would be paid twice, and fetches the results', () => {
  expect(sameCommand(['localize', 'my talk.mp4', '--fresh', '--detach'], {})).toBe(
    "vloc localize 'my talk.mp4'",
  );
});
