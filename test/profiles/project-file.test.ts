import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readProjectFile } from '../../src/profiles/project-file.ts';
import { makeFolder } from './support/folder.ts';

const warnings: string[] = [];
const read = (cwd: string, home = '/nobody') => readProjectFile(cwd, home, (text) => warnings.push(text));

async function makeTree() {
  const root = await makeFolder();
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

  it('is not searched for above the root of a repository, nor above home', async () => {
    const { root, deep, write } = await makeTree();
    await write({});
    expect(await read(deep, join(root, 'project', 'videos'))).toBeNull();
    expect(await read(deep, join(root, 'project'))).not.toBeNull();
    await mkdir(join(root, 'project', 'videos', '.git'));
    expect(await read(deep)).toBeNull();
  });

  it.each([
    ['secret', { secret: 'canary' }],
    ['key', { key: 'canary' }],
    ['webhook_secret', { webhook_secret: 'canary' }],
    ['secret_command', { secret_command: 'canary' }],
    ['api_key', { defaults: { api_key: 'canary' } }],
  ])('with a %s is refused, with the place where it belongs', async (name, settings) => {
    const { deep, write } = await makeTree();
    await write(settings);
    const error = await read(deep).catch((reason) => reason);
    expect(error.facts).toMatchObject({ category: 'configuration', code: 'PROJECT_FILE_INVALID' });
    expect(error.facts.errors).toEqual([
      { pointer: name, detail: expect.stringContaining('vloc profile add') },
    ]);
    expect(JSON.stringify(error.facts)).not.toContain('canary');
  });

  it.each([
    [{ base_ulr: 'https://a/v1' }, 'base_ulr', 'did you mean base_url?'],
    [{ colour: 1 }, 'colour', 'known: profile, base_url'],
    [{ profile: 7 }, 'profile', 'string'],
    [{ profile: '' }, 'profile', 'must not be empty'],
  ])('with a wrong field is reported with its name: %j', async (settings, pointer, detail) => {
    const { deep, path, write } = await makeTree();
    await write(settings);
    const error = await read(deep).catch((reason) => reason);
    expect(error.message).toContain(path);
    expect(error.facts.errors).toEqual([{ pointer, detail: expect.stringContaining(detail) }]);
  });

  it('that is not JSON is reported', async () => {
    const { deep, path } = await makeTree();
    await writeFile(path, '{"profile":');
    await expect(read(deep)).rejects.toThrow(`${path} cannot be read`);
  });

  it.runIf(process.getuid?.() === 0)('of another user is ignored with a warning', async () => {
    const { deep, path, write } = await makeTree();
    await write({ base_url: 'https://evil.example/v1' });
    await chown(path, 12_345, 12_345);
    expect(await read(deep)).toBeNull();
    expect(warnings).toContainEqual(expect.stringContaining('belongs to another user'));
  });
});
