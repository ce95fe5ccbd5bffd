import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  choiceOption,
  durationOption,
  flagOption,
  listOption,
  type OptionTable,
  pairsOption,
  textOption,
} from '../../src/base/option.ts';
import { withProjectDefaults } from '../../src/cli/project-defaults.ts';
import { makeFolder } from '../support/make-folder.ts';
import { createTestIo } from '../support/test-io.ts';

const OPTIONS = {
  to: listOption('tags', ''),
  out: textOption('dir', ''),
  terms: textOption('file', ''),
  sheet: textOption('file', ''),
  name: textOption('template', ''),
  timeout: durationOption(''),
  mode: choiceOption(['standard', 'subtitles_only'], ''),
  clobber: flagOption(''),
  skipExisting: flagOption(''),
  set: pairsOption('name=value', ''),
} as const satisfies OptionTable;

const NOTHING = { to: [], clobber: false, skipExisting: false, set: {} };

let folder = '';
beforeEach(async () => {
  folder = makeFolder();
});

async function fill(defaults: object, found: Record<string, unknown> = {}) {
  await writeFile(join(folder, 'vloc.config.json'), JSON.stringify({ defaults }));
  const cwd = join(folder, 'below');
  await mkdir(cwd, { recursive: true });
  const { io } = createTestIo({ cwd, env: { HOME: '/nobody' } });
  const command = { options: OPTIONS, examples: [], run: async () => 0 };
  const options = { ...NOTHING, ...found } as never; // replace those that the parser reads
  const called = { command, options, given: Object.keys(found) };
  return withProjectDefaults(called, io, () => {});
}

describe('defaults of the project file', () => {
  it('are parsed like flags; folders and files are relative to the file', async () => {
    const defaults = {
      to: ['es', 'fr'],
      out: 'done',
      terms: 'terms.csv',
      sheet: '-',
      name: '{stem}{ext}',
      timeout: '2h',
      mode: 'standard',
      skip_existing: true,
      set: { a: 'b' },
    };
    expect(await fill(defaults)).toEqual({
      ...NOTHING,
      to: ['es', 'fr'],
      out: join(folder, 'done'),
      terms: join(folder, 'terms.csv'),
      sheet: '-',
      name: '{stem}{ext}',
      timeout: 7_200_000,
      mode: 'standard',
      skipExisting: true,
      set: { a: 'b' },
    });
  });

  it('are overridden by the command line, also by an opposite flag', async () => {
    const found = { to: ['de'], clobber: true };
    expect(await fill({ to: 'es,fr', skip_existing: true }, found)).toEqual({ ...NOTHING, ...found });
  });

  it('are ignored for options of other commands', async () => {
    expect(await fill({ subtitle_output: 'soft' })).toEqual(NOTHING);
  });

  it.each(['out', 'terms', 'name', 'to'])(
    'refuse an empty value of %s, which is not the folder of the file',
    async (name) => {
      await expect(fill({ [name]: '' })).rejects.toMatchObject({
        category: 'configuration',
        facts: {
          errors: [{ pointer: `defaults.${name}`, detail: 'expected a value that is not empty' }],
        },
      });
    },
  );
});
