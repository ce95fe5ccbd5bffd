/** The embedded service with an engine on a server that is down: nothing is uploaded or created for jobs that need it. */

import { cp, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, expect, test } from 'vitest';
import { QUICK } from '../commands/support/run-vloc.ts';
import { startServer } from '../engines/backends/loopback-server.ts';
import { SAMPLE } from '../engines/workspace.ts';
import { makeFolder } from '../support/make-folder.ts';
import { runMain, variablesIn } from '../support/run-main.ts';

/** Nothing listens on port 1. */
const DOWN = 'http://127.0.0.1:1/v1';
const SRT = '1\n00:00:00,000 --> 00:00:02,000\nHello.\n';

let folder: string;
beforeEach(async () => {
  folder = makeFolder();
  await cp(SAMPLE, join(folder, 'talk.mp4'));
  await writeFile(join(folder, 'talk.srt'), SRT);
});

async function run(engines: object, ...words: string[]) {
  await writeFile(join(folder, 'mine.json'), JSON.stringify(engines));
  const env = variablesIn(folder);
  return runMain([...words, '--engines', 'mine.json', '--profile', 'local'], {
    cwd: folder,
    pace: QUICK,
    env,
  });
}

/** How many rows the service has stored. */
function countRows(table: 'uploads' | 'jobs'): unknown {
  const store = new DatabaseSync(join(folder, 'state', 'service.sqlite'), { readOnly: true });
  try {
    return store.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.count;
  } finally {
    store.close();
  }
}

const openai = { type: 'openai', url: DOWN, model: 'm' };
const RECOGNIZE = { recognize: [openai, 'pocketsphinx'] };
const TRANSLATE = { translate: [{ type: 'libretranslate', url: DOWN }, 'apertium'] };
const SPEAK = { speak: [{ ...openai, voices: { es: 'dora' } }, 'espeak-ng'] };

test.each([
  ['openai m', 'recognizing speech', RECOGNIZE, ['localize', 'talk.mp4', '--to', 'es', '--dry-run']],
  ['libretranslate', 'translating', TRANSLATE, ['translate', 'talk.srt', '--from', 'en', '--to', 'es']],
  ['openai m', 'speaking', SPEAK, ['dub', 'talk.srt', '--to', 'es']],
])('%s for %s that is down is reported at once: %o', async (name, doing, engines, words) => {
  const { code, stderr } = await run(engines, ...words);
  expect(code, stderr).toBe(4);
  expect(stderr).toContain(
    `✖ ${name} cannot be used, and ${doing} needs it: 127.0.0.1 port 1 refuses connections; nothing was sent\n`,
  );
  expect(stderr).toContain(
    `Start the server, or correct its url. The engine is in ${join(folder, 'mine.json')}.`,
  );
  expect(stderr).toContain('ENGINE_UNREACHABLE');
  expect([countRows('uploads'), countRows('jobs')]).toEqual([0, 0]);
  expect(await readdir(folder)).not.toContain('talk.es.wav');
});

test('an engine that is down and that the language does not use stops nothing', async () => {
  const { code, stderr } = await run(SPEAK, 'dub', 'talk.srt', '--to', 'fr');
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('spoken by espeak-ng instead of openai m');
});

test('a server that accepts connections is not asked before the job', async () => {
  const server = await startServer(() => ({ status: 404, body: { error: { message: 'no such voice' } } }));
  const speak = [{ ...openai, url: server.url, voices: { es: 'dora' } }];
  const { code, stderr } = await run({ speak }, 'dub', 'talk.srt', '--to', 'es');
  expect([code, countRows('jobs')], stderr).toEqual([5, 1]);
  expect(server.received.map(({ path }) => path)).toEqual(['/v1/audio/speech']);
});
