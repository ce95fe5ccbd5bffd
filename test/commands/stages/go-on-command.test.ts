import { expect, test } from 'vitest';
import { goOnCommand } from '../../../src/commands/stages/go-on-command.ts';

const goOn = (...words: string[]) => goOnCommand(words, {});

test('the command behind a gate is the same one, from the subtitles', () => {
  expect(goOn('localize', 'my talk.mp4', '--stop-after', 'translate', '--to', 'es')).toBe(
    "vloc localize 'my talk.mp4' --to es --from-subtitles",
  );
  expect(goOn('localize', 'a.mp4', '--to=es', '--stop-after=recognize', '--from-subtitles')).toBe(
    'vloc localize a.mp4 --to=es --from-subtitles',
  );
});

test('what was made before the gate is not made anew', () => {
  expect(goOn('localize', 'a.mp4', '--fresh', '--to', 'es')).toBe(
    'vloc localize a.mp4 --to es --from-subtitles',
  );
});

test('npm’s way to call it is kept', () => {
  expect(goOnCommand(['localize', 'a.mp4'], { npm_command: 'exec' })).toBe(
    'npx vloc localize a.mp4 --from-subtitles',
  );
});
