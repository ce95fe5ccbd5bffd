import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { type AgentFolders, confinePath, openFolders } from '../../../src/commands/mcp/limits.ts';
import { makeFolder } from '../../support/make-folder.ts';

let root = '';
let folders: AgentFolders;
beforeEach(async () => {
  root = await realpath(makeFolder());
  for (const name of ['in', 'out', 'elsewhere', 'in2']) await mkdir(join(root, name));
  await writeFile(join(root, 'in/a.mp4'), '');
  folders = await openFolders(['in'], ['out'], root);
});

const at = (path: string) => join(root, path);
const REFUSED = { facts: { code: 'OUTSIDE_FOLDERS', category: 'usage' } };

describe('a path of an agent', () => {
  it('is relative to the first folder of its access; writable folders are readable', async () => {
    expect(await confinePath(folders, 'a.mp4', 'read')).toBe(at('in/a.mp4'));
    expect(await confinePath(folders, 'new/a.mp4', 'write')).toBe(at('out/new/a.mp4'));
    expect(await confinePath(folders, '.', 'write')).toBe(at('out'));
    expect(await confinePath(folders, at('out/a.es.mp4'), 'read')).toBe(at('out/a.es.mp4'));
  });

  it.each(['..', '../in2/a.mp4', '/', '/etc/passwd', 'a/../../elsewhere', 'a\0b'])(
    'is refused: %j',
    async (word) => {
      await expect(confinePath(folders, word, 'read')).rejects.toMatchObject(REFUSED);
      await expect(confinePath(folders, word, 'write')).rejects.toMatchObject(REFUSED);
    },
  );

  it('is refused for writing in a folder that is read-only, and the advice says who can allow it', async () => {
    const refused = confinePath(folders, at('in/new.mp4'), 'write');
    await expect(refused).rejects.toMatchObject(REFUSED);
    await expect(refused).rejects.toMatchObject({
      facts: { advice: expect.stringContaining('Only the user') },
    });
  });

  it('is refused if it is a link that leads outside, or a new file behind one', async () => {
    await symlink(at('elsewhere'), at('out/link'));
    await expect(confinePath(folders, 'link', 'write')).rejects.toMatchObject(REFUSED);
    await expect(confinePath(folders, 'link/new.mp4', 'write')).rejects.toMatchObject(REFUSED);
  });

  it('is refused if a link below it leads outside, and accepted if the link stays inside', async () => {
    await mkdir(at('in/deep/er'), { recursive: true });
    await symlink(at('out'), at('in/deep/er/inside'));
    expect(await confinePath(folders, 'deep', 'read')).toBe(at('in/deep'));
    await symlink(at('elsewhere'), at('in/deep/er/outside'));
    await expect(confinePath(folders, 'deep', 'read')).rejects.toMatchObject(REFUSED);
    expect(await confinePath(folders, 'a.mp4', 'read')).toBe(at('in/a.mp4'));
  });

  it('does not follow a circle of links forever', async () => {
    await symlink(at('in'), at('in/circle'));
    expect(await confinePath(folders, '.', 'read')).toBe(at('in'));
  });

  it('may be a pattern; the folder above its first variable part counts', async () => {
    expect(await confinePath(folders, '*.mp4', 'read')).toBe(at('in/*.mp4'));
    await expect(confinePath(folders, '../*/a.mp4', 'read')).rejects.toMatchObject(REFUSED);
    await symlink(at('elsewhere'), at('in/link'));
    await expect(confinePath(folders, '**/*.mp4', 'read')).rejects.toMatchObject(REFUSED);
  });
});

describe('the folders of a server', () => {
  it('are the targets of their links', async () => {
    await symlink(at('in'), at('linked'));
    expect(await openFolders(['linked'], ['out'], root)).toEqual({
      readable: [at('in'), at('out')],
      writable: [at('out')],
    });
  });

  it.each(['missing', 'in/a.mp4'])('must be folders that exist, unlike %s', async (name) => {
    await expect(openFolders([], [name], root)).rejects.toMatchObject({
      facts: { code: 'USAGE', message: expect.stringContaining(name) },
    });
  });
});

test('folders that are called like patterns work, and the pattern below them may not leave them', async () => {
  const name = 'week (1) [x] {y}!';
  await mkdir(join(root, name, 'deep [2]'), { recursive: true });
  const odd = await openFolders([name], [name], root);
  expect(await confinePath(odd, 'deep [2]', 'read')).toBe(at(`${name}/deep [2]`));
  expect(await confinePath(odd, '*.mp4', 'read')).toBe(at(`${name}/*.mp4`));
  expect(await confinePath(odd, 'new (3)/a.mp4', 'write')).toBe(at(`${name}/new (3)/a.mp4`));
  await expect(confinePath(odd, '../*.mp4', 'read')).rejects.toMatchObject(REFUSED);
});
