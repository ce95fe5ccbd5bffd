import { expect, test } from 'vitest';
import { createScratch } from '../../../src/service/storage/scratch.ts';
import { StorageAway } from '../../../src/service/storage/storage.ts';

const MIB = 1024 ** 2;

/** A disk with that much room, and finished stages that take some of it. */
function makeDisk(freeMib: number, stagesMib = 0) {
  const disk = { free: freeMib * MIB, stages: stagesMib * MIB };
  const makeRoom = async () => {
    const had = disk.stages > 0;
    disk.free += disk.stages;
    disk.stages = 0;
    return had;
  };
  return { disk, scratch: createScratch('work', makeRoom, async () => disk.free) };
}

test('an input is accepted while there is space for it three times, for its copy and its results', async () => {
  const { scratch } = makeDisk(64 + 300);
  await scratch.reserve(100 * MIB);
  await expect(scratch.reserve(1 * MIB)).rejects.toThrow(StorageAway);
});

test('released space can be reserved again, and only once', async () => {
  const { scratch } = makeDisk(64 + 300);
  const giveBack = await scratch.reserve(100 * MIB);
  giveBack();
  giveBack();
  await scratch.reserve(100 * MIB);
  await expect(scratch.reserve(100 * MIB)).rejects.toThrow('lacks 315 MB for an input of 105 MB');
});

test('finished stages are removed before a job has to wait for space', async () => {
  const { scratch, disk } = makeDisk(64, 300);
  await scratch.reserve(100 * MIB);
  expect(disk.stages).toBe(0);
  await expect(scratch.reserve(100 * MIB)).rejects.toThrow('waits for space or for another worker');
});

test('a disk of unknown free space accepts everything', async () => {
  const scratch = createScratch(
    'work',
    async () => false,
    async () => null,
  );
  await expect(scratch.reserve(1024 ** 4)).resolves.toBeTypeOf('function');
});
