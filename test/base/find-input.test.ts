import { link, mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { createInputs, foldName } from '../../src/base/find-input.ts';
import { makeFolder } from '../support/make-folder.ts';

let folder: string;
let video: string;

beforeEach(async () => {
  folder = makeFolder();
  video = join(folder, 'talk.mp4');
  await writeFile(video, 'the original');
  await mkdir(join(folder, 'x'));
});

const find = (path: string, inputs: readonly string[] = [video]) => createInputs(inputs).find(path);

describe('an input is found', () => {
  it('by its own name, and by another spelling of its path', async () => {
    expect(await find(video)).toBe(video);
    expect(await find(`${folder}/./x/../talk.mp4`)).toBe(video);
  });

  it('by a symbolic link to it, and if the link is the input', async () => {
    const name = join(folder, 'link.mp4');
    await symlink(video, name);
    expect(await find(name)).toBe(video);
    expect(await find(video, [name])).toBe(name);
    expect(await find(name, [name])).toBe(name);
  });

  it('by a link to its folder', async () => {
    await symlink(folder, join(folder, 'x', 'back'));
    expect(await find(join(folder, 'x', 'back', 'talk.mp4'))).toBe(video);
  });

  it('by a hard link, whichever of the names was given', async () => {
    const name = join(folder, 'x', 'other.mp4');
    await link(video, name);
    expect(await find(name)).toBe(video);
    expect(await find(video, [name])).toBe(name);
  });

  it('by its name if a program has replaced it by a new file meanwhile', async () => {
    const inputs = createInputs([video]);
    expect(await inputs.find(video)).toBe(video);
    await writeFile(join(folder, 'new'), 'edited');
    await rename(join(folder, 'new'), video);
    expect(await inputs.find(video)).toBe(video);
  });

  it('if it is added later, also by searches that already run', async () => {
    const inputs = createInputs();
    expect(await inputs.find(video)).toBeNull();
    inputs.add([video]);
    expect(await Promise.all([inputs.find(video), inputs.find(video)])).toEqual([video, video]);
  });
});

describe('no input is found', () => {
  it('if there is nothing, or another file', async () => {
    await writeFile(join(folder, 'talk.es.mp4'), 'a result');
    expect(await find(join(folder, 'none.mp4'))).toBeNull();
    expect(await find(join(folder, 'talk.es.mp4'))).toBeNull();
    expect(await find(join(folder, 'talk.es.mp4'), [join(folder, 'none.mp4')])).toBeNull();
  });

  it('if the disk has another file for the name in other letters', async () => {
    const upper = join(folder, 'TALK.MP4');
    await writeFile(upper, 'a result');
    // On a disk that does not tell them apart this is the input itself.
    const isOne = (await find(upper, [upper])) === upper && (await find(video, [upper])) === upper;
    expect(await find(upper)).toBe(isOne ? video : null);
  });
});

it('names that differ only in case or composition are the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => {
      expect(foldName(name.normalize('NFD'))).toBe(foldName(name));
      expect(foldName(foldName(name))).toBe(foldName(name));
    }),
  );
  expect(foldName('/out/TALK.Mp4')).toBe(foldName('/OUT/talk.mp4'));
});
