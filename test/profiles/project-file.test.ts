import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readProjectFile } from '../../src/profiles/project-file.ts';
import { makeFolder } from '../support/make-folder.ts';

const warnings: string[] = [];
const read = (cwd: string, home = '/nobody') => readProjectFile(cwd, home, (text) => warnings.push(text));

async function makeTree() {
  const root = makeFolder();
  const deep = join(root, 'project', 'videos', 'week-1');
  await mkdir(deep, { recursive: true });
  const path = join(root, 'project', 'vloc.config.json');
  return { root, deep, path, write: (settings: unknown) => writeFile(path, JSON.stringify(settings)) };
}

describe('the project file', () => {
  it('is found from any folder below it', async () => {
    const { deep, path, write } = await makeTree();
    await write({ profile: 'prod', header_prefix: 'X-Acme', defaults: { to: ['es', 'fr'], out: 'done' } });
    expect(await read(deep)).toEqual({
      path,
      settings: { profile: 'prod', header_prefix: 'X-Acme', defaults: { to: ['es', 'fr'], out: 'done' } },
    });
  });

  it('is read after a byte order mark', async () => {
    const { deep, path } = await makeTree();
    await writeFile(path, '\uFEFF{"profile":"prod"}');
    expect(await read(deep)).toEqual({ path, settings: { profile: 'prod' } });
  });

  it('with settings of a newer version says that this one does not have them', async () => {
    const { deep, write } = await makeTree();
    await write({ version: 2, profile: 'prod' });
    await expect(read(deep)).rejects.toMatchObject({
      facts: {
        errors: [{ pointer: 'version', detail: expect.stringMatching(/^this version of vloc has no/) }],
      },
    });
  });

  it('is not searched for above the root of a repository, nor above home', async () => {
    const { root, deep, write } = await makeTree();
    await write({});
    expect(await read(deep, join(root, 'project', 'videos'))).toBeNull();
    expect(await read(deep, join(root, 'project'))).not.toBeNull();
    await mkdir(join(root, 'project', 'videos', '.git'));
    expect(await read(deep)).toBeNull();
  });

  it.runIf(process.getuid?.() === 0)('of another user is ignored with a warning', async () => {
    const { deep, path, write } = await makeTree();
    await write({ base_url: 'https://evil.example/v1' });
    await chown(path, 12_345, 12_345);
    expect(await read(deep)).toBeNull();
    expect(warnings).toContainEqual(expect.stringContaining('belongs to another user'));
  });

  it.runIf(process.getuid?.() === 0)('of the system serves a user without an account', async () => {
    const root = await mkdtemp('/tmp/vloc-project-');
    onTestFinished(() => rm(root, { recursive: true }));
    await chmod(root, 0o755);
    await writeFile(join(root, 'vloc.config.json'), JSON.stringify({ profile: 'prod' }), { mode: 0o644 });
    // As in a container that is started with `--user 54321`.
    process.seteuid?.(54_321);
    onTestFinished(() => process.seteuid?.(0));
    expect(await read(root)).toMatchObject({ settings: { profile: 'prod' } });
  });
});
