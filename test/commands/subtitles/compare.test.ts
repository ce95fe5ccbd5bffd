import { expect, test } from 'vitest';
import { openSubtitlesDesk, srtCue } from './desk.ts';

const THREE = srtCue(1, 1, 2, 'One.') + srtCue(2, 3, 4, 'Two.') + srtCue(3, 5, 6, 'Three.');

test('cues that were added, removed, changed and moved are listed, and the exit code is 1', async () => {
  const { run, write } = await openSubtitlesDesk();
  await write('a.srt', THREE + srtCue(4, 7, 8, 'Four.'));
  await write(
    'b.srt',
    srtCue(1, 1.5, 2, 'One.') +
      srtCue(2, 3, 4, 'Deux.') +
      srtCue(3, 7, 8, 'Four.') +
      srtCue(4, 9, 10, 'Five.'),
  );
  const { code, stdout } = await run('compare', 'a.srt', 'b.srt', '-o', 'json');
  const rows = JSON.parse(stdout).data;
  expect(code).toBe(1);
  expect(rows.map(({ change }: { change: string }) => change)).toEqual([
    'moved',
    'changed',
    'removed',
    'added',
  ]);
  expect(rows[0]).toEqual({
    ...{ change: 'moved', cue: 1, new_cue: 1, time: '00:00:01,000', text: 'One.', new_text: 'One.' },
    ...{ start_moved_ms: 500, end_moved_ms: 0 },
  });
  expect(await run('compare', 'a.srt', 'b.srt')).toEqual({
    code: 1,
    stdout: [
      ...['00:00:01,000 cue 1 begins 500 ms later', '00:00:03,000 cue 2 text', '- Two.', '+ Deux.'],
      ...['00:00:05,000 cue 3 removed', '- Three.', '00:00:09,000 cue 4 added', '+ Five.', ''],
    ].join('\n'),
    stderr: '1 cue the same, 1 added, 1 removed, 1 changed, 1 moved.\n',
  });
});

test('equal cues exit with 0, whatever their format, numbers, line ends and encoding', async () => {
  const { run, write } = await openSubtitlesDesk();
  await write('a.srt', srtCue(1, 1.004, 2, '<i>One.</i>') + srtCue(2, 3, 4, 'Two\nrows.'));
  const others = {
    'b.srt': Buffer.from(
      `\uFEFF${srtCue(7, 1.004, 2, '<i>One.</i>')}${srtCue(9, 3, 4, 'Two\nrows.')}`.replaceAll('\n', '\r\n'),
      'utf16le',
    ),
  };
  await write('b.srt', others['b.srt']);
  expect(await run('compare', 'a.srt', 'b.srt')).toMatchObject({ code: 0, stdout: '' });
  for (const format of ['vtt', 'ass']) {
    await run('convert', 'a.srt', '--to', format);
    expect(await run('compare', 'a.srt', `a.${format}`)).toMatchObject({ code: 0, stdout: '' });
    expect(await run('compare', `a.${format}`, 'a.srt')).toMatchObject({ code: 0, stdout: '' });
  }
});

test('anything but two files that can be read is a usage error', async () => {
  const { run, write } = await openSubtitlesDesk();
  await write('a.srt', THREE);
  await write('broken.srt', 'Dear all');
  await write('course/1.srt', THREE);
  await write('course/2.srt', THREE);
  for (const words of [['a.srt'], ['a.srt', 'a.srt', 'a.srt'], ['a.srt', 'gone.srt'], ['a.srt', 'course']])
    expect(await run('compare', ...words)).toMatchObject({ code: 2, stdout: '' });
  expect(await run('compare', 'a.srt', 'broken.srt')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('broken.srt: row 1: expected a number and times'),
  });
});
