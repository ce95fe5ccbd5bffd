/** The completions in a real bash, typed on a terminal: readline decides there what a word is. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTerminal, type TerminalSession } from '../../support/pseudo-terminal.ts';
import { checkLines, MINUTES, openPackedDesk, readOffered } from './cases.ts';
import { type Desk, missingShell, scriptPath } from './desk.ts';

const missing = missingShell('bash');
let desk: Desk;
beforeAll(async () => {
  desk = await openPackedDesk();
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

/** The whole word at the cursor as it would become: readline replaces only what is behind `--name=`, a colon and a quote. */
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
      const before = /(\S*[=:])?(?=[^\s=:]*$)/.exec(line)?.[0] ?? '';
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
  'bash offers commands, options, choices and values of this machine, and nothing else',
  async ({ skip }) => {
    skip(missing !== null, missing ?? '');
    await checkLines(complete);
  },
  2 * MINUTES,
);

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
  await becomes('vloc localize "my', 'vloc localize "my file.srt" ');
  await becomes('vloc localize --body @ta', '@talk.srt ');
  await becomes('vloc jobs list > ta', '> talk.srt ');
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
