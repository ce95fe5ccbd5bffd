import { describe, expect, it } from 'vitest';
import { findWay } from '../../../src/commands/tool/upgrade.ts';
import { runMain } from '../../support/run-main.ts';

describe('the detected installation', () => {
  it.each([
    ['/usr/local/lib/node_modules/vloc/', null, 'npm'],
    ['/home/me/.nvm/versions/node/v24.1.0/lib/node_modules/vloc/', null, 'npm'],
    ['C:/Users/me/AppData/Roaming/npm/node_modules/vloc/', null, 'npm'],
    ['/home/me/.npm/_npx/0123abcd/node_modules/vloc/', null, 'npx'],
    ['/home/me/site/node_modules/vloc/', null, 'project'],
    ['/opt/vloc-0.1.0-linux-x64/lib/', 'standalone', 'standalone'],
    ['/opt/homebrew/Cellar/vloc/0.1.0/libexec/lib/', 'standalone', 'homebrew'],
    ['C:/Users/me/scoop/apps/vloc/current/lib/', 'standalone', 'scoop'],
    // SCOOP names the folder; the link `current` is followed.
    ['D:/Tools/apps/vloc/0.1.0/lib/', 'standalone', 'scoop'],
    ['D:/apps/vloc/vloc-0.1.0-windows-x64/lib/', 'standalone', 'standalone'],
    ['/home/me/apps/vloc/0.1.0/lib/', 'standalone', 'standalone'],
    [
      'C:/Users/me/AppData/Local/Microsoft/WinGet/Packages/owner.vloc/vloc-0.1.0-windows-x64/lib/',
      'standalone',
      'winget',
    ],
    ['/usr/lib/vloc/lib/', 'deb', 'deb'],
    ['/usr/lib/vloc/lib/', 'aur', 'aur'],
    // An image is made with npm, and marked.
    ['/usr/local/lib/node_modules/vloc/', 'container', 'container'],
    ['/usr/local/lib/node_modules/vloc/', 'something else', 'npm'],
  ] as const)('with the package in %s and the mark %s is %s', (folder, mark, way) => {
    expect(findWay({ folder, mark, hasSources: false })).toBe(way);
  });

  it('is a checkout if the sources are there, wherever it is', () => {
    expect(findWay({ folder: '/home/me/src/vloc/', mark: null, hasSources: true })).toBe('checkout');
  });
});

it('vloc upgrade prints the version, the installation and the command, for people and for programs', async () => {
  const people = await runMain(['upgrade']);
  expect(people.code).toBe(0);
  expect(people.stdout).toMatch(
    /VERSION +INSTALLED BY +UPGRADE\n\d+\.\d+\.\d+ +a checkout +git pull && npm install/,
  );
  const programs = await runMain(['upgrade', '-o', 'json']);
  expect(JSON.parse(programs.stdout)).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    installed_by: 'checkout',
    upgrade: 'git pull && npm install',
  });
});
