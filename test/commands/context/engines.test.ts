/** Which engines a run uses: --engines, VLOC_ENGINES, or engines.json in the folder of the profiles. */

import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { nodeScript } from '../../engines/backends/user-program.ts';
import { startScene } from '../../service/harness/scene.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { foldersIn, runMain } from '../../support/run-main.ts';
import { PROGRAMS } from '../support/run-engines.ts';
import { environmentOf } from '../support/run-vloc.ts';

const SRT = '1\n00:00:00,000 --> 00:00:02,000\ngood morning\n';
const TRANSLATE = ['translate', 'a.srt', '--from', 'en', '--to', 'es', '--out', 'out'];

let folder = '';
beforeEach(async () => {
  folder = makeFolder();
  await mkdir(join(folder, 'config'), { mode: 0o700 });
  await writeFile(join(folder, 'a.srt'), SRT);
});

async function run(words: readonly string[], env: Record<string, string> = {}) {
  return runMain(words, { cwd: folder, env: { ...foldersIn(folder), ...env } });
}

/** Writes a file with a translator that adds a mark to each text. */
async function configure(name: string, mark: string): Promise<string> {
  const code = PROGRAMS.translate.replace('cue.text.toUpperCase()', `cue.text.toUpperCase() + ' ${mark}'`);
  const entry = { type: 'command', run: [nodeScript(code)], languages: ['en', 'es'] };
  await writeFile(join(folder, name), JSON.stringify({ translate: [entry] }), { mode: 0o600 });
  return name;
}

const translated = () => readFile(join(folder, 'out', 'a.es.srt'), 'utf8');

describe('a run of the embedded service', () => {
  it('uses the file in the folder of the profiles, before that the one of VLOC_ENGINES, and --engines first', async () => {
    await configure('config/engines.json', 'default');
    const { code, stderr } = await run(TRANSLATE);
    expect(code, stderr).toBe(0);
    expect(await translated()).toContain('GOOD MORNING default');
    // A file with a mistake is named when it is read.
    for (const name of ['variable.json', 'flag.json']) await writeFile(join(folder, name), '{');
    const again = [...TRANSLATE, '--fresh', '--clobber'];
    const env = { VLOC_ENGINES: 'variable.json' };
    const variable = await run(again, env);
    expect([variable.code, variable.stderr]).toEqual([4, expect.stringContaining('variable.json')]);
    const flag = await run([...again, '--engines', 'flag.json'], env);
    expect([flag.code, flag.stderr]).toEqual([4, expect.stringContaining('flag.json')]);
    expect(flag.stderr).not.toContain('variable.json');
  });

  it('fails with 4 for a named file that is missing, and names the option or variable', async () => {
    for (const [words, env, name] of [
      [['--engines', 'none.json'], {}, '--engines'],
      [[], { VLOC_ENGINES: 'none.json' }, 'VLOC_ENGINES'],
    ] as const) {
      const { code, stderr } = await run([...TRANSLATE, ...words], env);
      expect(code).toBe(4);
      expect(stderr).toContain(`cannot read ${join(folder, 'none.json')}: there is no such file`);
      expect(stderr).toContain(`${name} names it`);
    }
  });

  it('fails with 4 for a file with mistakes, before anything else is done', async () => {
    await writeFile(join(folder, 'config/engines.json'), '{"translate": []}', { mode: 0o600 });
    const { code, stderr } = await run([...TRANSLATE, '-o', 'json']);
    expect(code).toBe(4);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'ENGINES_INVALID',
      category: 'configuration',
      errors: [{ pointer: 'translate', detail: expect.stringContaining('at least one engine') }],
    });
  });

  it.each([
    [{ type: 'sherpa', folder: '/no/such/model' }, 'sherpa model: "folder" in engines.json does not exist'],
    [{ type: 'command', run: ['whisper', '{inptu}'], languages: ['en'] }, '{inptu} in "run" is not replaced'],
  ])('fails with 4 for an unusable engine, before anything else is done', async (entry, reason) => {
    await writeFile(join(folder, 'mine.json'), JSON.stringify({ recognize: [entry] }), { mode: 0o600 });
    for (const words of [[...TRANSLATE, '-o', 'json'], ['serve']]) {
      const { code, stderr } = await run([...words, '--engines', 'mine.json']);
      expect(code).toBe(4);
      expect(stderr).toContain('ENGINES_INVALID');
      expect(stderr.replaceAll('\\"', '"')).toContain(
        `an engine of ${join(folder, 'mine.json')} cannot be used: `,
      );
      expect(stderr.replaceAll('\\"', '"')).toContain(reason);
    }
  });

  it('warns of a file that others can change', async () => {
    const name = await configure('open.json', 'open');
    await chmod(join(folder, name), 0o666);
    const { code, stderr } = await run(['credits', '--engines', name]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("run: chmod 600 '")]);
  });
});

describe('a project file', () => {
  it.each([{ engines: 'engines.json' }, { defaults: { engines: 'engines.json' } }])(
    'cannot name engines, whose programs would arrive with a checkout: %j',
    async (settings) => {
      await configure('engines.json', 'project');
      await writeFile(join(folder, 'vloc.config.json'), JSON.stringify(settings));
      const { code, stderr } = await run(TRANSLATE);
      expect([code, stderr]).toEqual([4, expect.stringContaining('vloc.config.json')]);
    },
  );
});

describe('a service elsewhere', () => {
  it('has its own engines: --engines is refused', async () => {
    const env = environmentOf(await startScene(), folder);
    const { code, stderr } = await run(['credits', '--engines', 'mine.json'], env);
    expect(code).toBe(2);
    expect(stderr).toContain(
      `--engines is for the embedded service, but this run uses ${env.VLOC_BASE_URL} (env VLOC_BASE_URL)`,
    );
    expect(stderr).toContain('--profile local');
  });

  it('is used although VLOC_ENGINES names a file for the embedded one', async () => {
    const env = environmentOf(await startScene(), folder);
    expect((await run(['credits'], { ...env, VLOC_ENGINES: 'none.json' })).code).toBe(0);
  });
});
