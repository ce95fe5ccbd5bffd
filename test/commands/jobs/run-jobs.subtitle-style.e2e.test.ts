/** What `--subtitle-style` of a localization in one job says and refuses. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startTalk } from './titled-talk.ts';

const STYLED = ['--subtitle-output', 'burned', '--subtitle-style'];

test('a dry run says where subtitles are burned in, and what cannot be drawn is refused before anything is sent, also by a watch', async () => {
  const { localize, run, at, jobs } = await startTalk();
  writeFileSync(at('font.json'), '{"font":"Nosuch Grotesk"}');
  expect(await localize(...STYLED, 'box', '--dry-run')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(
      'talk.mp4: its subtitles are burned into the delivered video on this machine, free.',
    ),
  });
  for (const [words, why] of [
    [['--subtitle-style', 'box'], '--subtitle-style: is for burned subtitles; add --subtitle-output burned'],
    [[...STYLED, 'neon'], 'the subtitle style neon cannot be used: there is no such style or file'],
    [[...STYLED, 'font.json'], 'the font "Nosuch Grotesk" of the subtitle style is not installed'],
  ] as const)
    expect(await localize(...words), why).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  const watch = ['localize', 'in', '--to', 'es', '--out', 'out', '--watch', ...STYLED, 'font.json'];
  mkdirSync(at('in'));
  expect(await run(watch)).toMatchObject({ code: 2, stderr: expect.stringContaining('"Nosuch Grotesk"') });
  expect(await jobs()).toEqual([]);
});
