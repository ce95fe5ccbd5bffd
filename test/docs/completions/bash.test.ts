/** The completions in a real bash, typed on a terminal: readline decides there what a word is. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTerminal, type TerminalSession } from '../../e2e/terminal.ts';
import { EXACT, listCases, missingFrom, readOffered } from './cases.ts';
import { type Desk, missingShell, openDesk, scriptPath } from './desk.ts';

/** Some hundred completions; seconds on a machine that has nothing else to do. */
const MINUTES = 60_000;

const missing = missingShell('bash');
let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.remove());

/** Prints the reply of the completion, then lets readline continue with it. */
const CAPTURE = `
source '${scriptPath('vloc.bash')}'
captured() {
  _vloc "$@"
  printf '\\nCOMPLETED %s\\n' "$COMP_LINE"
  printf '%s\\n' "\${COMPREPLY[@]}"
  printf 'END %s.\\n' "$((count += 1))"
}
complete -o default -F captured vloc
bind 'set bell-style none'
PS1=
echo READY
`;

const CLEAR_LINE = '\x15';

/** The whole word at the cursor as it would become: after \`--name=\` readline replaces only the value. */
async function complete(lines: readonly string[]): Promise<Map<string, string[]>> {
  const session = await openBash(CAPTURE);
  for (const [at, line] of lines.entries()) {
    session.type(`${line}\t`);
    await session.see(`END ${at + 1}.`);
    session.type(CLEAR_LINE);
  }
  session.type('exit\r');
  await session.ended;
  const shown = session.screen().replaceAll('\r', '');
  const replies = [...shown.matchAll(/^COMPLETED .*\n[\s\S]*?(?=^END \d+\.$)/gm)].join('');
  return new Map(
    [...readOffered(replies)].map(([line, words]) => {
      const before = /(--[\w-]+=)?@?(?=[^\s=@]*$)/.exec(line)?.[0] ?? '';
      return [line, words.map((word) => before + word)];
    }),
  );
}

async function openBash(setUp: string): Promise<TerminalSession> {
  const file = join(desk.folder, '.setup');
  writeFileSync(file, setUp);
  const session = openTerminal(`bash --noprofile --rcfile '${file}' -i`, desk.folder, { ...desk.env });
  await session.see('READY');
  return session;
}

it(
  'bash offers every command, option, choice and value of this machine',
  async ({ skip }) => {
    skip(missing !== null, missing ?? '');
    const cases = await listCases();
    const offered = await complete(cases.map(({ line }) => line));
    expect(missingFrom(offered, cases)).toEqual([]);
    expect(offered.get('vloc jobs wait ')).toEqual(['dub_newer', 'loc_older']);
  },
  2 * MINUTES,
);

it('bash offers nothing if there are no values', async ({ skip }) => {
  skip(missing !== null, missing ?? '');
  const offered = await complete(EXACT.map(({ line }) => line));
  for (const { line, offers } of EXACT) expect(offered.get(line), line).toEqual(offers);
});

it('bash leaves files to readline if they are expected, and only then', async ({ skip }) => {
  skip(missing !== null, missing ?? '');
  const session = await openBash(
    `source '${scriptPath('vloc.bash')}'\nbind 'set bell-style none'\nPS1=\necho READY`,
  );
  const becomes = async (typed: string, whole: string) => {
    session.type(`${typed}\t`);
    await session.see(whole);
    session.type(CLEAR_LINE);
  };
  await becomes('vloc localize tal', 'vloc localize talk.srt ');
  await becomes('vloc webhooks verify --body=ta', '--body=talk.srt ');
  await becomes('vloc separate --out l', 'vloc separate --out lessons/');
  session.type('vloc jobs list --limit tal\t; exit\r');
  await session.ended;
  expect(stripVTControlCharacters(session.screen())).toContain('--limit tal; exit');
});

it('bash 3.2, which every Mac has, would understand the script', () => {
  const script = readFileSync(scriptPath('vloc.bash'), 'utf8');
  expect(script).not.toMatch(
    /\b(mapfile|readarray|declare -A|local -A|local -n)\b|\$\{\w+(,,|\^\^|@)|;;&|&>>|\[-1\]/,
  );
  // Features of newer ones may fail without a message.
  for (const line of script.split('\n').filter((each) => each.includes('compopt'))) {
    expect(line).toContain('2>/dev/null');
  }
});
