import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startVloc } from '../support/run-vloc.ts';

it.each([
  ['--dry-run', ['inbox', '--dry-run'], '--watch cannot be combined with --dry-run'],
  ['--detach', ['inbox', '--detach'], '--watch cannot be combined with --detach'],
  ['a list', ['inbox', '--files-from', 'list.txt'], '--watch cannot be combined with --files-from'],
  [
    'a list with NUL',
    ['inbox', '--files-from0', 'list.txt'],
    '--watch cannot be combined with --files-from0',
  ],
  ['a sheet', ['inbox', '--sheet', 'sheet.csv'], '--watch cannot be combined with --sheet'],
  ['no folder', [], '--watch needs a folder'],
  ['a file', ['inbox/a.srt'], 'is not a folder'],
  ['a missing folder', ['elsewhere'], 'does not exist'],
  ['a pattern', ['inbox/*.srt'], '--include'],
  ['stdin', ['-'], 'needs folders'],
  ['an address', ['https://example.com/a.srt'], 'needs folders'],
  ['a folder in another', ['inbox', 'inbox/week1'], 'watched twice'],
  ['one folder twice', ['inbox', './inbox'], 'watched twice'],
  ['results in the watched folder', ['inbox', '--out', 'inbox/out'], 'which is in the watched folder'],
  ['no --out in the watched folder', ['.'], 'which is in the watched folder'],
  ['a wrong language', ['inbox', '--to', 'no language'], '--to'],
  ['an invalid --name', ['inbox', '--out', 'out', '--name', '{nothing}'], '{nothing}'],
])('--watch with %s is refused before anything is sent', async (_, words, told) => {
  let requests = 0;
  const vloc = await startVloc({
    onRequest: () => {
      requests += 1;
    },
  });
  await mkdir(join(vloc.folder, 'inbox', 'week1'), { recursive: true });
  await writeFile(join(vloc.folder, 'inbox', 'a.srt'), '1\n00:00:00,000 --> 00:00:01,000\na\n');
  const to = words.includes('--to') ? [] : ['--to', 'es'];
  const { code, stderr } = await vloc.run(['translate', ...words, '--from', 'en', ...to, '--watch']);
  expect(code, stderr).toBe(2);
  expect(stderr).toContain(told);
  expect(requests).toBe(0);
});
