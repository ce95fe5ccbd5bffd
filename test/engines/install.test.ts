import { describe, expect, test } from 'vitest';
import {
  detectSystem,
  findFontPackages,
  findPairPackage,
  findRoutePackages,
  hasFreshLists,
  listNearPairs,
  planInstall,
  runInstall,
  showCommand,
} from '../../src/engines/install.ts';
import { makeFolder } from '../support/make-folder.ts';

const facts = {
  system: 'debian',
  privilege: 'root',
  missing: ['espeak-ng', 'pocketsphinx'],
  freshLists: true,
} as const;
const shown = (plan: ReturnType<typeof planInstall>) => plan.commands.map(showCommand);

describe('a plan', () => {
  test('installs all missing packages with one command', () => {
    const plan = planInstall(facts);
    expect(shown(plan)).toEqual([
      'env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends pocketsphinx pocketsphinx-en-us espeak-ng',
    ]);
    expect(plan).toMatchObject({
      engines: ['pocketsphinx', 'espeak-ng'],
      impossible: [],
      asksPassword: false,
    });
  });

  test('fetches the lists of packages first when they are old', () => {
    expect(shown(planInstall({ ...facts, freshLists: false }))[0]).toBe('apt-get update -q');
  });

  test('does nothing if nothing is missing', () => {
    expect(planInstall({ ...facts, missing: [], freshLists: false }).commands).toEqual([]);
  });

  test.each([
    ['sudo', 'sudo -n env', false],
    ['password', 'sudo env', true],
    ['none', 'sudo env', false],
  ] as const)('with the privilege "%s" begins with "%s"', (privilege, start, asksPassword) => {
    const plan = planInstall({ ...facts, privilege });
    expect(shown(plan)[0]?.startsWith(start)).toBe(true);
    expect(plan.asksPassword).toBe(asksPassword);
  });

  test('uses the manager of each system and says what that cannot install', () => {
    const plan = planInstall({
      ...facts,
      system: 'macos',
      privilege: 'password',
      missing: ['ffmpeg', 'apertium', 'sherpa-onnx'],
    });
    expect(shown(plan)).toEqual(['brew install ffmpeg']);
    expect(plan.impossible.map(({ engine }) => engine)).toEqual(['sherpa-onnx', 'apertium']);
    expect(plan.impossible[0]?.reason).toContain('install vloc again');
    expect(planInstall({ ...facts, system: null })).toMatchObject({ commands: [], impossible: [{}, {}] });
  });
});

describe('the system', () => {
  test.each([
    ['linux', 'PRETTY_NAME="Debian GNU/Linux 12"\nID=debian\n', 'debian'],
    ['linux', 'ID=linuxmint\nID_LIKE="ubuntu debian"\n', 'debian'],
    ['linux', 'ID="rocky"\nID_LIKE="rhel centos fedora"\n', 'fedora'],
    ['linux', 'ID=manjaro\nID_LIKE=arch\n', 'arch'],
    ['linux', 'ID=alpine\n', null],
    ['darwin', '', 'macos'],
    ['win32', '', 'windows'],
  ] as const)('%s with %j is %s', (platform, release, system) => {
    expect(detectSystem(platform, release)).toBe(system);
  });

  test('has no fresh lists of packages if it has none', () => {
    expect(hasFreshLists(Date.now(), makeFolder())).toBe(false);
    expect(hasFreshLists(Date.now(), '/nowhere')).toBe(false);
  });
});

describe('running a plan', () => {
  const plan = (...commands: string[][]) => ({ commands, engines: [], impossible: [], asksPassword: false });
  const { signal } = new AbortController();

  test('shows each line as it arrives and keeps our secrets from the commands', async () => {
    process.env.VLOC_SECRET = 'canary';
    const lines: string[] = [];
    const onLine = (line: string) => lines.push(line);
    const script = 'echo "secret: $VLOC_SECRET"; echo "path: $PATH" >&2';
    await runInstall(plan(['sh', '-c', script], ['echo', 'done']), { onLine, signal });
    delete process.env.VLOC_SECRET;
    expect(lines.toSorted()).toEqual(['done', `path: ${process.env.PATH}`, 'secret: ']);
  });

  test('stops at the first command that fails, with its last output', async () => {
    const lines: string[] = [];
    const onLine = (line: string) => lines.push(line);
    const commands = plan(['sh', '-c', 'echo E: no such package; exit 100'], ['echo', 'never']);
    await expect(runInstall(commands, { onLine, signal })).rejects.toMatchObject({
      name: 'ChildFailure',
      exitCode: 100,
      lastWords: 'E: no such package',
    });
    expect(lines).not.toContain('never');
  });
});

describe('a pair of languages', () => {
  const NAMES = ['apertium-en-es', 'apertium-eng-spa', 'apertium-en-gl', 'apertium-spa-cat'];

  test('is found by its languages, the newer name first', () => {
    expect(findPairPackage('spa-eng', NAMES)).toBe('apertium-eng-spa');
    expect(findPairPackage('glg-en', NAMES)).toBe('apertium-en-gl');
    expect(findPairPackage('eng-xho', NAMES)).toBeNull();
    expect(findPairPackage('eng-xho', [])).toBe('apertium-eng-xho');
  });

  test('is found for a language through another one', () => {
    expect(findRoutePackages('gl', NAMES)).toEqual(['apertium-en-gl']);
    const names = [...NAMES, 'apertium-es-pt', 'apertium-eng-cat', 'apertium-cat-ita'];
    expect(findRoutePackages('pt', names)).toEqual(['apertium-eng-spa', 'apertium-es-pt']);
    expect(findRoutePackages('it', names)).toEqual(['apertium-eng-cat', 'apertium-cat-ita']);
    expect(findRoutePackages('xho', names)).toBeNull();
  });

  test('has neighbours that share a language', () => {
    expect(listNearPairs('gl-xho', NAMES)).toEqual(['en-gl']);
    expect(listNearPairs('deu-xho', NAMES)).toEqual([]);
  });

  test('is added to what is installed, even if nothing is missing', () => {
    const plan = planInstall({ ...facts, missing: [], extra: ['apertium-en-gl'] });
    expect(shown(plan).at(-1)).toMatch(/ apertium-en-gl$/);
    expect(plan.engines).toEqual(['apertium-en-gl']);
  });
});

describe('packages with fonts', () => {
  test('are those of the scripts, each once', () => {
    expect(findFontPackages(['ja', 'zh-TW', 'ko'], 'debian')).toEqual(['fonts-noto-cjk']);
    expect(findFontPackages(['hi', 'ja', 'th'], 'arch')).toEqual(['noto-fonts', 'noto-fonts-cjk']);
    expect(findFontPackages([], 'macos')).toEqual([]);
  });

  test('are unknown for systems that include fonts', () => {
    expect(findFontPackages(['ja'], 'macos')).toBeNull();
  });
});
