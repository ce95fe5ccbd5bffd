import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isWelcome, noticeUpdate, type UpdateParts } from '../../src/cli/update-notice.ts';
import type { Io } from '../../src/commands/context/context.ts';
import { makeFolder } from '../support/make-folder.ts';
import { createTestIo } from '../support/test-io.ts';

const NOW = 1_800_000_000_000;

/** A terminal, with a state folder of its own. */
function open(env: Record<string, string> = {}) {
  const folder = makeFolder();
  const test = createTestIo({ env: { VLOC_STATE_DIR: folder, ...env }, now: () => NOW });
  for (const stream of [test.io.stdout, test.io.stderr]) Object.assign(stream, { isTTY: true });
  return { ...test, file: join(folder, 'update.json') };
}

/** Collects the questions instead of starting processes that ask them. */
function partsOf(registry: string | null) {
  const asked: string[] = [];
  const parts: UpdateParts = {
    version: '1.0.0',
    registry,
    advice: 'npm install --global vloc@latest',
    ask: (address) => asked.push(address),
  };
  return { parts, asked };
}

it('a command asks once a week in the background, and a later one mentions the answer once', () => {
  const { io, stderr, file } = open();
  const { parts, asked } = partsOf('https://registry.example.com/');
  noticeUpdate(io, parts);
  noticeUpdate(io, parts);
  expect([asked, stderr()]).toEqual([['https://registry.example.com/'], '']);
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), latest: '1.1.0' }));
  noticeUpdate(io, parts);
  noticeUpdate(io, parts);
  expect(stderr()).toBe(
    'vloc 1.1.0 is available; this is 1.0.0. To upgrade: npm install --global vloc@latest\n',
  );
  expect(asked).toHaveLength(1);
});

it('a package that names no registry asks nothing and writes nothing', () => {
  const { io, file } = open();
  const { parts, asked } = partsOf(null);
  noticeUpdate(io, parts);
  expect([asked, readdirSync(join(file, '..'))]).toEqual([[], []]);
});

it('this checkout is not published, so it asks nothing', () => {
  const { io, file } = open();
  noticeUpdate(io);
  expect(readdirSync(join(file, '..'))).toEqual([]);
});

it('a missing or damaged state folder changes nothing', () => {
  const { parts, asked } = partsOf('https://registry.example.com/');
  for (const folder of ['/dev/null/state', '/proc/self/fd/none']) {
    noticeUpdate(open({ VLOC_STATE_DIR: folder }).io, parts);
  }
  expect(asked).toEqual([]);
});

it.each<[string, (io: Io) => Io, string[]]>([
  ['stdout is not a terminal', (io) => ({ ...io, stdout: Object.assign(io.stdout, { isTTY: false }) }), []],
  ['stderr is not a terminal', (io) => ({ ...io, stderr: Object.assign(io.stderr, { isTTY: false }) }), []],
  ['CI is set', (io) => ({ ...io, env: { ...io.env, CI: 'true' } }), []],
  ['it is disabled', (io) => ({ ...io, env: { ...io.env, VLOC_NO_UPDATE_NOTICE: '1' } }), []],
  ['the command is quiet', (io) => io, ['--quiet']],
])('nothing is asked or mentioned when %s', (_, change, words) => {
  expect(isWelcome(['credits'], open().io)).toBe(true);
  expect(isWelcome(['credits', ...words], change(open().io))).toBe(false);
});
