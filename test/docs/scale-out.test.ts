/** The units and the Compose file that docs/scale-out.md names: they parse, and what they run exists. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { flagName } from '../../src/batch/inputs/field-flags.ts';
import { COMMANDS } from '../../src/commands/tree.ts';
import { makeFolder } from '../support/make-folder.ts';

const read = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const page = read('scale-out.md');
const UNITS = ['api', 'worker'].map((name) => read(`../deploy/systemd/vloc-${name}.service`));
const HAS_SYSTEMD = spawnSync('systemd-analyze', ['--version']).status === 0;

interface Container {
  readonly command?: readonly string[];
  readonly networks?: readonly string[];
  readonly depends_on?: readonly string[];
  readonly volumes?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
}

const compose: {
  readonly services: Readonly<Record<string, Container>>;
  readonly networks: object;
  readonly volumes: object;
} = parse(read('compose.yaml'), { merge: true });

/** Every call of vloc on the page and in the Compose file, as words. */
const CALLS = [
  ...[
    ...[page, ...UNITS].join('\n').matchAll(/(?:^|[=\s`])(?:\/usr\/bin\/)?(vloc (?:serve|engines)[^\n`]*)/gm),
  ].map(([, line = '']) => line.split(' ')),
  ...Object.values(compose.services).flatMap(({ command }) =>
    command?.[0] === 'serve' ? [['vloc', ...command]] : [],
  ),
];

/** The options of the longest command that the words begin with; null if there is none. */
async function optionsOf(words: readonly string[]): Promise<string[] | null> {
  const found = COMMANDS.filter(({ words: name }) => name.every((word, at) => words[at + 1] === word)).at(-1);
  if (found === undefined) return null;
  const { options } = await found.leaf.load();
  return [...Object.keys(options).map(flagName), '--output', '--yes'];
}

describe('docs/scale-out.md', () => {
  it('uses commands and options that exist', async () => {
    expect(CALLS.length).toBeGreaterThan(8);
    for (const words of CALLS) {
      const options = await optionsOf(words);
      expect([words.join(' '), options]).not.toEqual([words.join(' '), null]);
      const unknown = words.filter(
        (word) => word.startsWith('--') && !options?.includes(word.split('=')[0] ?? ''),
      );
      expect([words.join(' '), unknown]).toEqual([words.join(' '), []]);
    }
  });

  it('has for each process of a unit a state folder that systemd creates', () => {
    for (const unit of UNITS) {
      const [, name = ''] = /^StateDirectory=(\S+)$/m.exec(unit) ?? [];
      expect(unit).toMatch(new RegExp(`^ExecStart=.*--state-dir /var/lib/${name} `, 'm'));
      expect(unit).toMatch(/^EnvironmentFile=\/etc\/vloc\/vloc\.env$/m);
      expect(unit).not.toMatch(/password|secret/i);
    }
  });

  it.skipIf(!HAS_SYSTEMD)('has units that systemd understands (needs systemd-analyze)', async () => {
    const small = [...read('service.md').matchAll(/```ini\n([^`]*)```/g)].map(([, unit = '']) => unit);
    const units = [...UNITS, ...small];
    expect(units).toHaveLength(3);
    const folder = makeFolder();
    const paths = units.map((unit, at) => {
      const path = join(folder, `vloc-${at}.service`);
      // The program need not be installed where the tests run; systemd looks for it.
      writeFileSync(path, unit.replace('ExecStart=/usr/bin/vloc', `ExecStart=${process.execPath}`));
      return path;
    });
    const checked = spawnSync('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', ...paths], {
      encoding: 'utf8',
    });
    // It ends with 0 after an unknown setting, and only mentions it.
    expect([checked.status, checked.stderr]).toEqual([0, '']);
  });

  it('links a Compose file whose services, networks and volumes match', () => {
    expect(page).toContain('(compose.yaml)');
    const names = Object.keys(compose.services);
    expect(names).toEqual(['api', 'worker', 'database', 'proxy']);
    for (const { networks = [], depends_on: needed = [], volumes = [] } of Object.values(compose.services)) {
      expect(Object.keys(compose.networks)).toEqual(expect.arrayContaining([...networks]));
      expect(names).toEqual(expect.arrayContaining([...needed]));
      const named = volumes.map((volume) => volume.split(':')[0] ?? '').filter((name) => /^\w+$/.test(name));
      expect(Object.keys(compose.volumes)).toEqual(expect.arrayContaining(named));
    }
    const roles = names.map((name) => compose.services[name]?.command?.join(' ') ?? '');
    expect(roles[0]).toContain('--role api');
    expect(roles[1]).toContain('--role worker');
  });
});
