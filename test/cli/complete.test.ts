/** What vloc answers to the completion scripts. `test/docs/completions` tries them in real shells. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { factsOf } from '../../src/base/option.ts';
import { flagName } from '../../src/batch/inputs/field-flags.ts';
import { completeWords } from '../../src/cli/complete.ts';
import { type CompletionTable, loadTable } from '../../src/cli/completion-table.ts';
import { HELP_TOPICS } from '../../src/cli/help.ts';
import { GLOBAL_OPTIONS } from '../../src/commands/context/global-options.ts';
import { OUTPUT_MODES } from '../../src/commands/context/output/forms.ts';
import { COMMANDS } from '../../src/commands/tree.ts';
import { type Desk, openDesk } from '../docs/completions/desk.ts';

let desk: Desk;
let table: CompletionTable;
beforeAll(async () => {
  table = await loadTable();
  desk = await openDesk();
});
afterAll(() => desk.remove());

async function answer(words: readonly string[], env: Record<string, string> = {}) {
  const around = {
    env: { ...desk.env, ...env },
    platform: 'linux',
    cwd: desk.folder,
    now: Date.now,
  } as const;
  const [head = '', ...rows] = (await completeWords(table, words, around)).slice(0, -1).split('\n');
  const [kind, kept] = head.split('\t');
  return { kind, kept, words: rows.map((row) => row.split('\t')[0] ?? ''), rows };
}

/** The words that a shell offers at the end of a line, whole. */
async function offered(line: string, env?: Record<string, string>): Promise<string[]> {
  const typed = line.split(' ').slice(1);
  const { kept, words } = await answer(typed, env);
  return words.map((word) => `${kept}${word}`).filter((word) => word.startsWith(typed.at(-1) ?? ''));
}

describe('vloc completion complete', () => {
  it('offers every command, option and choice', async () => {
    for (const { words, leaf } of COMMANDS) {
      const { options, operands, fields } = await leaf.load();
      const line = ['vloc', ...words].join(' ');
      for (const [at, word] of words.entries()) {
        expect(await offered(['vloc', ...words.slice(0, at), ''].join(' '))).toContain(word);
      }
      const names = Object.keys({ ...options, ...GLOBAL_OPTIONS });
      expect(await offered(`${line} --`)).toEqual(expect.arrayContaining([...names.map(flagName), '--help']));
      for (const [name, option] of Object.entries(options)) {
        const { choices } = factsOf(option);
        if (choices !== undefined) expect(await offered(`${line} ${flagName(name)} `)).toEqual(choices);
      }
      if (operands?.choices !== undefined) expect(await offered(`${line} `)).toEqual(operands.choices);
      if (fields !== undefined) expect(await offered(`${line} --fields `)).toEqual(fields());
      expect(await offered(`${line} -o `)).toEqual(OUTPUT_MODES);
    }
  });

  it('describes commands, options and values', async () => {
    expect((await answer(['loc'])).rows).toContain('localize\ttranslate and dub whole videos');
    expect((await answer(['localize', '--'])).rows.join('\n')).toMatch(/^--timeout\tstop waiting/m);
    expect((await answer(['jobs', 'wait', ''])).rows).toEqual([
      'dub_newer\tdubbing, queued, talk.mp4',
      'loc_older\tauto_localization, queued, talk.mp4',
    ]);
  });

  it.each([
    ['vloc --v', ['--version', '--verbose']],
    ['vloc help', ['help']],
    ['vloc help e', ['engines', 'exit-codes', 'environment']],
    ['vloc help jobs ', ['list', 'get', 'wait', 'download', 'cancel']],
    ['vloc help jobs --', []],
    ['vloc nonsense ', []],
    ['vloc toString ', []],
    ['vloc jobs list --limit ', []],
    ['vloc --profile staging jobs l', ['list']],
    ['vloc jobs --output=json --profile staging l', ['list']],
    ['vloc serve --port 80 keys ', ['create', 'list', 'revoke']],
    ['vloc jobs list --output=n', ['--output=ndjson']],
    ['vloc jobs list -on', ['-ondjson']],
    ['vloc jobs list --quiet=', []],
    ['vloc jobs list --nope ', []],
    ['vloc jobs list --kind dubbing,a', ['dubbing,audio_separation', 'dubbing,auto_localization']],
    ['vloc jobs list --kind=dubbing,dubb', []],
    ['vloc jobs get --fields=id,stat', ['--fields=id,status']],
    ['vloc jobs list --quiet --qu', []],
    ['vloc jobs list -o json --out', []],
    ['vloc localize --set a=b --se', ['--set']],
    ['vloc jobs get --profile ', ['local', 'staging']],
    ['vloc profile use ', ['local', 'staging']],
    ['vloc profile use staging ', []],
    ['vloc jobs wait loc_older --output=json ', ['dub_newer']],
    ['vloc jobs wait - ', ['dub_newer', 'loc_older']],
    ['vloc jobs wait -- -', []],
    ['vloc jobs -- wait ', []],
    ['vloc jobs list --profile -- --limit ', []],
    ['vloc upload get ', ['upl_here']],
    ['vloc engines remove qwen3:4', ['qwen3:4b']],
    ['vloc models install whisper-ba', ['whisper-base']],
    ['vloc models remove ', []],
    ['vloc localize --to $(x),', []],
  ])('at `%s` offers %j', async (line, words) => {
    expect(await offered(line)).toEqual(words);
  });

  it('offers the topics of the help among its commands', async () => {
    const topics = HELP_TOPICS.map(({ name }) => name);
    expect(await offered('vloc help ')).toEqual(expect.arrayContaining([...topics, 'localize', 'jobs']));
  });

  it.each([
    ['vloc localize t', 'files', ''],
    ['vloc localize -- -t', 'files', ''],
    ['vloc localize --out ', 'folders', ''],
    ['vloc localize --out=l', 'folders', '--out='],
    ['vloc localize --body @t', 'files', '@'],
    ['vloc localize --body=@t', 'files', '--body=@'],
    ['vloc localize --body t', 'words', ''],
    ['vloc webhooks verify --body t', 'files', ''],
    ['vloc batch status ', 'folders', ''],
    ['vloc upload --file-name x ', 'files', ''],
    ['vloc api GET ', 'words', ''],
    ['vloc doctor ', 'words', ''],
  ])('at `%s` lets the shell complete %s behind "%s"', async (line, kind, kept) => {
    expect(await answer(line.split(' ').slice(1))).toMatchObject({ kind, kept });
  });

  it('takes a space for the empty word that PowerShell cannot pass', async () => {
    expect(await answer(['credits', ' '])).toEqual(await answer(['credits', '']));
  });

  it('offers nothing when the records of this machine cannot be read, and never fails', async () => {
    const none = {
      VLOC_STATE_DIR: '/dev/null/none',
      VLOC_CONFIG_DIR: '/dev/null/none',
      VLOC_MODELS: '/dev/null',
    };
    expect(await offered('vloc jobs wait ', none)).toEqual([]);
    expect(await offered('vloc models remove ', none)).toEqual([]);
    expect(await offered('vloc profile use ', none)).toEqual(['local']);
    expect(await completeWords(table, [], { env: {}, platform: 'linux', cwd: '/', now: Date.now })).toContain(
      'localize\t',
    );
  });
});
